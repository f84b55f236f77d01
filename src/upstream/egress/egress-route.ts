import { isIP } from 'node:net';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { withoutBrackets } from '../../common/http/without-brackets.js';
import { EgressAllowList } from '../../config/egress-allow-list.js';
import { type EgressSettings, readAuthorities, withoutDot } from '../../config/egress-settings.js';

export type RouteSettings = Pick<EgressSettings, 'EGRESS_PROXY' | 'EGRESS_NO_PROXY' | 'EGRESS_CA_FILE'>;

const DIRECT: RouteSettings = { EGRESS_NO_PROXY: [] };
const LOOPBACK = ['127.0.0.0/8', '::1', 'localhost'];

/**
 * The route of outgoing connections: through the operator's proxy or directly. Also the certificates that they trust.
 */
export class EgressRoute {
  readonly #proxy: URL | undefined;
  readonly #isAllDirect: boolean;
  /** These hosts and their subdomains are called directly. */
  readonly #hosts: EgressAllowList;
  /** Only the subdomains of these are called directly. */
  readonly #domains: EgressAllowList;
  /** Created once, since it holds all known authorities. Otherwise each connection would create it. */
  readonly #secureContext: SecureContext | undefined;

  constructor({ EGRESS_PROXY: proxy, EGRESS_NO_PROXY: direct, EGRESS_CA_FILE: file }: RouteSettings = DIRECT) {
    this.#proxy = proxy === undefined ? undefined : new URL(proxy);
    this.#isAllDirect = direct.includes('*');
    const named = direct.filter((entry) => entry !== '*');
    // Through a proxy, these would mean the proxy's own machine.
    this.#hosts = new EgressAllowList([...LOOPBACK, ...named.filter((entry) => withoutDot(entry) === entry)]);
    this.#domains = new EgressAllowList(named.filter((entry) => withoutDot(entry) !== entry).map(withoutDot));
    if (file === undefined) return;
    this.#secureContext = createSecureContext({ ca: [...rootCertificates, ...readAuthorities(file)] });
  }

  /** Trusts the known authorities and those of EGRESS_CA_FILE; undefined without this setting. */
  get secureContext(): SecureContext | undefined {
    return this.#secureContext;
  }

  /** The proxy for a host; undefined for a direct connection. */
  proxyTo(hostname: string, port: number): URL | undefined {
    if (this.#proxy === undefined || this.#isAllDirect) return undefined;
    const host = withoutBrackets(hostname).toLowerCase().replace(/\.+$/, '');
    return this.#isDirect(host, port) ? undefined : this.#proxy;
  }

  #isDirect(host: string, port: number): boolean {
    if (isIP(host) !== 0) return this.#hosts.hasAddress(host, port);
    if (this.#hosts.hasName(host, port)) return true;
    const labels = host.split('.');
    const parents = labels.slice(1).map((_label, index) => labels.slice(index + 1).join('.'));
    return parents.some((parent) => this.#hosts.hasName(parent, port) || this.#domains.hasName(parent, port));
  }
}
