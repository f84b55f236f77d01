import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

// Azure's platform address (host agent, DNS, instance data) lies in a public range, so no range list has it.
// Source: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
const AZURE_PLATFORM_ADDRESS = '168.63.129.16';

// IANA delegates global unicast from 2000::/3 only. Allowing only this range, not refusing a list of bad ones, also
// refuses ranges that ipaddr.js does not name: the IPv4-compatible `::a.b.c.d`, and ranges that are assigned later.
const GLOBAL_UNICAST_V6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address belongs to the public internet. Addresses with a special use do not. Nor does any IPv6 form that
 * embeds an IPv4 address, since a translator would deliver it to that IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  // isIP accepts only strict dotted decimals, while ipaddr.js also reads `127.1` and `0x7f000001`.
  if (isIP(address) === 0 || address.includes('%')) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed instanceof ipaddr.IPv6) return parsed.match(GLOBAL_UNICAST_V6) && !isIsatap(parsed.parts);
  return address !== AZURE_PLATFORM_ADDRESS;
}

/** ISATAP (RFC 5214, 6.1): under any prefix, an interface id of 0000:5efe or 0200:5efe, then an IPv4 address. */
function isIsatap(parts: readonly number[]): boolean {
  return (parts[4] === 0 || parts[4] === 0x0200) && parts[5] === 0x5efe;
}
