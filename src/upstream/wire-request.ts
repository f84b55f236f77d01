import type { Readable } from 'node:stream';
import type { Connecting, ExchangeOptions } from './exchange-client.js';
import type { UpstreamStreamRequest } from './upstream.types.js';

/** A request in undici's words. `body` is apart, since a stream is wrapped before it is handed over. */
export function wireRequest(
  { method, url, headers }: Omit<UpstreamStreamRequest, 'body'>,
  body: Buffer | Readable | undefined,
  exchange?: Connecting,
): ExchangeOptions {
  return { path: url.pathname + url.search, method, headers: wireHeaders(headers), body: body ?? null, exchange };
}

function wireHeaders(headers: UpstreamStreamRequest['headers']): string[] {
  // Answers are read or passed on as they come, so compression would only have to be undone.
  const wire = ['accept-encoding', 'identity'];
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    // undici takes a Host header for the TLS server name as well; both always come from the URL that was checked.
    if (value !== undefined && name !== 'host' && name !== 'accept-encoding') wire.push(name, value);
  }
  return wire;
}
