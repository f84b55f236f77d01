import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { IsString, Matches } from 'class-validator';
import { ToList } from '../common/validation/conversion.decorators.js';
import { EgressAllowList } from './egress-allow-list.js';
import { ServerSettings } from './server-settings.js';
import { IsWebAddress, OptionalSetting } from './setting.decorators.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Settings of outgoing calls: where they may go, by which way, and whose certificates are trusted there. */
export class EgressSettings extends ServerSettings {
  /** Hosts, addresses and CIDR blocks that outgoing calls may reach although they are not public. */
  @ToList()
  @IsString({ each: true })
  readonly EGRESS_ALLOW: readonly string[] = [];

  /** Proxy that outgoing calls are tunnelled through (`CONNECT`). */
  @OptionalSetting()
  @IsWebAddress()
  @Matches(/^[^/]*\/\/[^/?#]+\/?$/, { message: '$property must have no path, query or fragment' })
  readonly EGRESS_PROXY?: string;

  /** Hosts, domains, addresses and CIDR blocks that are called without the proxy; `*` for all. */
  @ToList()
  @IsString({ each: true })
  readonly EGRESS_NO_PROXY: readonly string[] = [];

  /** File with certificates in PEM of authorities that are trusted besides the known ones. */
  @OptionalSetting()
  @IsString()
  readonly EGRESS_CA_FILE?: string;
}

/** Without the dot before a domain, which has its own meaning. */
export function withoutDot(entry: string): string {
  return entry.replace(/^\*?\./, '');
}

/**
 * The certificates of a file, in PEM.
 * @throws Error when there is none, or one cannot be read
 */
export function readAuthorities(file: string): readonly string[] {
  const certificates = readFileSync(file, 'latin1').match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throw new Error('no certificate');
  for (const certificate of certificates) void new X509Certificate(certificate);
  return certificates;
}

/** What is wrong with settings that are each right for themselves. */
export function egressProblems(settings: EgressSettings): readonly string[] {
  const { EGRESS_ALLOW, EGRESS_NO_PROXY, EGRESS_CA_FILE } = settings;
  const domains = EGRESS_NO_PROXY.map((entry) => (entry === '*' ? 'all' : withoutDot(entry)));
  return [
    EgressAllowList.problemOf(EGRESS_ALLOW, 'EGRESS_ALLOW'),
    EgressAllowList.problemOf(domains, 'EGRESS_NO_PROXY'),
    fileProblem(EGRESS_CA_FILE),
  ].flatMap((problem) => problem ?? []);
}

function fileProblem(file: string | undefined): string | undefined {
  try {
    if (file !== undefined) readAuthorities(file);
    return undefined;
  } catch {
    return 'EGRESS_CA_FILE must name a file with certificates in PEM that the gateway can read';
  }
}
