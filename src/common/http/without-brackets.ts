/** The host of a URL as sockets take it: an IPv6 literal stands in brackets there (RFC 3986, section 3.2.2). */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
}
