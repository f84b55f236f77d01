import type { UpstreamHeaders } from './upstream.types.js';

/** The value of a header that should come once; the first when it came more often. */
export function firstHeader(headers: UpstreamHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' || value === undefined ? value : value[0];
}
