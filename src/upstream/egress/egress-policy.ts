import type { LookupAddress, LookupOptions } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { callbackify } from 'node:util';
import type { EgressSettings } from '../../config/egress-settings.js';
import { EgressAllowList } from '../../config/egress-allow-list.js';
import { withoutBrackets } from '../../common/http/without-brackets.js';
import { isPublicAddress } from './address-policy.js';
import { EgressRefusedError, MAX_URL_LENGTH } from './egress-refused.error.js';
import { EgressRoute, type RouteSettings } from './egress-route.js';
import { HostLookups, type HostResolver } from './host-lookups.js';

/** Of an address that a server names at its own origin, as those of MCP's older transport do. */
export const MAX_NAMED_URL_LENGTH = 8_192;
/** Names that mean the machine itself or its own network, whatever a resolver says. */
const LOCAL_SUFFIXES = ['.localhost', '.internal', '.local'] as const;

/** Where a connection would go. `protocol` as in URL: with its colon. */
export interface EgressTarget {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: number;
}

/**
 * Where the gateway may connect: https to public addresses, and whatever EGRESS_ALLOW names. Names are judged by
 * `checkUrl`, what they resolve to by `lookupFor`, which hands the socket exactly the addresses that it judged. On the way
 * through a proxy, which resolves names itself, only names and literal addresses are judged.
 */
export class EgressPolicy {
  readonly #allowList: EgressAllowList;
  readonly #resolver: HostResolver;
  /** URLs that have passed. What decides about them is fixed at start, and the ones that come again are not changed. */
  readonly #passed = new WeakSet<URL>();

  static of(settings: RouteSettings & Pick<EgressSettings, 'EGRESS_ALLOW'>): EgressPolicy {
    return new EgressPolicy(settings.EGRESS_ALLOW, undefined, new EgressRoute(settings));
  }

  /** Throws an Error that names the entry when an entry cannot be read. */
  constructor(
    allow: readonly string[],
    resolver: HostResolver = new HostLookups().find,
    readonly route = new EgressRoute(),
  ) {
    this.#allowList = new EgressAllowList(allow);
    this.#resolver = resolver;
  }

  /** Throws EgressRefusedError. Resolves nothing: fit for a field of a form as well as for each call. */
  checkUrl(url: URL, maxLength = MAX_URL_LENGTH): void {
    if (this.#passed.has(url)) return;
    if (url.href.length > maxLength) throw new EgressRefusedError('length', url.hostname);
    if (url.username !== '' || url.password !== '') throw new EgressRefusedError('userinfo', url.hostname);
    const port = portOf(url);
    if (port === 0) throw new EgressRefusedError('port', url.hostname);
    this.checkTarget({ protocol: url.protocol, hostname: url.hostname, port });
    this.#passed.add(url);
  }

  /** The part of `checkUrl` that a connector can repeat: scheme and host. */
  checkTarget(target: EgressTarget): void {
    const host = comparableHost(target.hostname);
    const isAddress = isIP(host) !== 0;
    const allowed = isAddress
      ? this.#allowList.hasAddress(host, target.port)
      : this.#allowList.hasName(host, target.port);

    if (target.protocol !== 'https:' && !(target.protocol === 'http:' && allowed)) {
      throw new EgressRefusedError('scheme', target.hostname);
    }
    if (allowed) return;
    if (isAddress && !isPublicAddress(host)) throw new EgressRefusedError('address', target.hostname);
    if (!isAddress && isLocalName(host)) throw new EgressRefusedError('host', target.hostname);
  }

  /**
   * A lookup for `net.connect` to one port. It resolves once and answers with the addresses that it has checked, so a
   * second DNS answer (rebinding) has no chance to come between the check and the connection.
   */
  lookupFor(port: number): LookupFunction {
    // callbackify, since what a callback throws inside of a promise would be lost as an unhandled rejection.
    const resolve = callbackify((hostname: string, family: LookupOptions['family']) =>
      this.#resolveChecked(hostname, port, family),
    );
    return (hostname, options, callback) => {
      resolve(hostname, options.family, (error, addresses) => {
        if (error) return callback(error, '');
        const [first] = addresses;
        if (first === undefined) return callback(notFound(hostname), '');
        return options.all ? callback(null, [...addresses]) : callback(null, first.address, first.family);
      });
    };
  }

  async #resolveChecked(
    hostname: string,
    port: number,
    family: LookupOptions['family'],
  ): Promise<readonly LookupAddress[]> {
    const addresses = await this.#resolver(hostname);
    const isTrusted = this.#allowList.hasName(comparableHost(hostname), port);
    // One bad address refuses the name. Connecting to the good rest would hide an attempt at rebinding, and would make
    // it depend on the order and the health of the addresses whether a host of both kinds works.
    if (!isTrusted && addresses.some(({ address }) => !this.#isAllowedAddress(address, port))) {
      throw new EgressRefusedError('address', hostname);
    }
    if (family === 4 || family === 'IPv4') return addresses.filter((entry) => entry.family === 4);
    if (family === 6 || family === 'IPv6') return addresses.filter((entry) => entry.family === 6);
    return addresses;
  }

  #isAllowedAddress(address: string, port: number): boolean {
    return isPublicAddress(address) || this.#allowList.hasAddress(address, port);
  }
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'http:' ? 80 : 443;
}

/** Without the brackets of an IPv6 literal and without the trailing dot, which means the same host to a resolver. */
function comparableHost(hostname: string): string {
  return withoutBrackets(hostname).toLowerCase().replace(/\.+$/, '');
}

function isLocalName(host: string): boolean {
  return host === '' || LOCAL_SUFFIXES.some((suffix) => host.endsWith(suffix) || host === suffix.slice(1));
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no usable address`), { code: 'ENOTFOUND' });
}
