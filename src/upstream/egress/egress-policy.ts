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

/** The longest URL that a server names at its own origin, as servers of MCP's older transport do. */
export const MAX_NAMED_URL_LENGTH = 8_192;
/** Names of the machine itself or its own network, whatever a resolver answers. */
const LOCAL_SUFFIXES = ['.localhost', '.internal', '.local'] as const;

/** The target of a connection. `protocol` ends in a colon, as in URL. */
export interface EgressTarget {
  readonly protocol: string;
  readonly hostname: string;
  readonly port: number;
}

/**
 * Decides where the gateway may connect: https to public addresses, and everything that EGRESS_ALLOW names. `checkUrl`
 * checks names. `lookupFor` checks the addresses that they resolve to, and gives exactly these to the socket. With a
 * proxy, which resolves names itself, only names and literal addresses are checked.
 */
export class EgressPolicy {
  readonly #allowList: EgressAllowList;
  readonly #resolver: HostResolver;
  /** URLs that passed. The rules are fixed at start, and reused URL objects are not changed. */
  readonly #passed = new WeakSet<URL>();

  static of(settings: RouteSettings & Pick<EgressSettings, 'EGRESS_ALLOW'>): EgressPolicy {
    return new EgressPolicy(settings.EGRESS_ALLOW, undefined, new EgressRoute(settings));
  }

  /** Throws an Error that names an invalid entry of `allow`. */
  constructor(
    allow: readonly string[],
    resolver: HostResolver = new HostLookups().find,
    readonly route = new EgressRoute(),
  ) {
    this.#allowList = new EgressAllowList(allow);
    this.#resolver = resolver;
  }

  /** Throws EgressRefusedError. Resolves no names, so it suits form fields as well as calls. */
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
   * A lookup for `net.connect` to one port. It resolves once and returns the addresses that it checked, so that a
   * second DNS answer (rebinding) cannot come between the check and the connection.
   */
  lookupFor(port: number): LookupFunction {
    // callbackify, since an error that a callback throws inside a promise would be an unhandled rejection.
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
    // One bad address refuses the name. Connecting to the good ones would hide an attempt at rebinding. Whether such a
    // host works would then depend on the order and health of its addresses.
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

/** Removes the brackets of an IPv6 literal and trailing dots, which a resolver ignores, and lower-cases the name. */
function comparableHost(hostname: string): string {
  return withoutBrackets(hostname).toLowerCase().replace(/\.+$/, '');
}

function isLocalName(host: string): boolean {
  return host === '' || LOCAL_SUFFIXES.some((suffix) => host.endsWith(suffix) || host === suffix.slice(1));
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no usable address`), { code: 'ENOTFOUND' });
}
