import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const BLOCK = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i;

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** The addresses and CIDR blocks of TRUST_PROXY. */
export class TrustedProxies {
  readonly #ranges: readonly Range[];

  /** Entries that `isAddressOrBlock` refuses are left out. */
  constructor(entries: readonly string[]) {
    this.#ranges = entries.map(rangeOf).filter((range) => range !== undefined);
  }

  get isEmpty(): boolean {
    return this.#ranges.length === 0;
  }

  /** An IPv4 address counts as such also in its IPv6 form, as sockets that listen for both report it. */
  has(address: string): boolean {
    if (this.isEmpty || !ipaddr.isValid(address)) return false;
    const parsed = ipaddr.process(address);
    return this.#ranges.some((range) => range[0].kind() === parsed.kind() && parsed.match(range));
  }
}

export function isAddressOrBlock(entry: unknown): boolean {
  return typeof entry === 'string' && rangeOf(entry) !== undefined;
}

function rangeOf(entry: string): Range | undefined {
  const [, address = '', prefix] = BLOCK.exec(entry) ?? [];
  // The strict check comes first: ipaddr.js would read `127/8` as 0.0.0.127/8.
  if (isIP(address) === 0) return undefined;
  const parsed = ipaddr.parse(address);
  const bits = parsed.kind() === 'ipv4' ? 32 : 128;
  const length = prefix === undefined ? bits : Number(prefix);
  return length <= bits ? [parsed, length] : undefined;
}
