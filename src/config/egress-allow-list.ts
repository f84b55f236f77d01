import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

interface AllowedRange {
  readonly range: [ipaddr.IPv4 | ipaddr.IPv6, number];
  /** Undefined: every port. */
  readonly port: number | undefined;
}

const CIDR = /^([0-9a-f.:]+)\/(\d{1,3})$/i;
const BRACKETED_V6 = /^\[([0-9a-f:.]*:[0-9a-f:.]*)\](?::(\d{1,5}))?$/i;
// Excluded are the characters with which `new URL` would read something else than a host, and the wildcard.
const HOST_AND_PORT = /^([^\s/@?#\\%:*[\]]+)(?::(\d{1,5}))?$/u;

/** In lower case and punycode. Resolvers take underscores too. */
const HOST_NAME = /^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/;

/** The EGRESS_ALLOW entries: where the gateway may connect although its rules refuse the place. */
export class EgressAllowList {
  readonly #names = new Set<string>();
  readonly #ranges: AllowedRange[] = [];

  /** @param entries `host`, `host:port`, an IP address, `address:port` or a CIDR range each. Throws on any other, by its number. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      if (!this.#add(entry.trim())) throw new Error(EgressAllowList.problemOf(entries));
    }
  }

  /** Names the wrong entries by their numbers, since the values may be secret. Undefined: none is wrong. */
  static problemOf(entries: readonly string[], setting = 'EGRESS_ALLOW'): string | undefined {
    const scratch = new EgressAllowList([]);
    const wrong = entries.flatMap((entry, index) => (scratch.#add(entry.trim()) ? [] : [index + 1]));
    if (wrong.length === 0) return undefined;
    return `${setting}: not a host, host:port, IP address or CIDR range: entry ${wrong.join(', ')}`;
  }

  /** @param name a host name in lower case without a trailing dot. */
  hasName(name: string, port: number): boolean {
    return this.#names.has(name) || this.#names.has(`${name}:${port}`);
  }

  /** An IPv4 range does not cover the IPv6 forms of its addresses: those have to be listed as they are. */
  hasAddress(address: string, port: number): boolean {
    if (this.#ranges.length === 0 || isIP(address) === 0 || address.includes('%')) return false;
    const parsed = ipaddr.parse(address);
    return this.#ranges.some(
      (allowed) =>
        parsed.kind() === allowed.range[0].kind() &&
        parsed.match(allowed.range) &&
        (allowed.port === undefined || allowed.port === port),
    );
  }

  #add(entry: string): boolean {
    const cidr = CIDR.exec(entry);
    if (cidr) return this.#addRange(cidr[1], Number(cidr[2]), undefined);
    if (isIP(entry) !== 0) return this.#addRange(entry, undefined, undefined);

    const bracketed = BRACKETED_V6.exec(entry);
    const [, host, portText] = bracketed ?? HOST_AND_PORT.exec(entry) ?? [];
    const port = portText === undefined ? undefined : Number(portText);
    if (host === undefined || port === 0 || (port ?? 0) > 65_535) return false;
    return bracketed || isIP(host) !== 0 ? this.#addRange(host, undefined, port) : this.#addName(host, port);
  }

  #addRange(address: string | undefined, prefix: number | undefined, port: number | undefined): boolean {
    // The strict check comes first: ipaddr.js would read `127/8` as 0.0.0.127/8.
    if (address === undefined || isIP(address) === 0 || address.includes('%')) return false;
    const parsed = ipaddr.parse(address);
    const bits = parsed.kind() === 'ipv4' ? 32 : 128;
    if (prefix !== undefined && prefix > bits) return false;
    this.#ranges.push({ range: [parsed, prefix ?? bits], port });
    return true;
  }

  #addName(host: string, port: number | undefined): boolean {
    if (!URL.canParse(`https://${host}`)) return false;
    // Through URL, so that an entry and a configured URL come to the same lower-case, punycode spelling.
    const name = new URL(`https://${host}`).hostname.replace(/\.+$/, '');
    // A short or hexadecimal IPv4 form (`127.1`) is a mistake sooner than an intention.
    if (!HOST_NAME.test(name) || isIP(name) !== 0) return false;
    this.#names.add(port === undefined ? name : `${name}:${port}`);
    return true;
  }
}
