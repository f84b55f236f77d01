import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '../common/errors/gateway.error.js';
import { gatewayHeader, KEY_HEADERS } from '../common/http/gateway-headers.js';
import { looksLikeApiKey } from './api-key-format.js';

/** What a request brings to say who its caller is. */
type Credentials =
  | { readonly kind: 'api_key'; readonly key: string }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'none' };

/** Where the clients of other APIs put their key. What has not the form of a gateway key there is not for the gateway. */
const CLIENT_HEADERS = ['x-api-key', 'api-key', 'x-goog-api-key'] as const;

/**
 * The gateway key's own header first. A bearer token, and the key of another API's client, counts as a gateway key when it has
 * the form of one.
 * @param inQuery what stands in the query, where clients put their key there
 * @throws GatewayError `api_key_invalid` for two headers with different gateway keys
 */
export function readCredentials(headers: IncomingHttpHeaders, inQuery?: unknown): Credentials {
  const own = gatewayHeader(headers, 'api-key');
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  let found: KeyAt | undefined = own === undefined ? undefined : { key: own, header: KEY_HEADERS[0] };
  if (token !== undefined) found = sameKey(found, { key: token, header: 'authorization' });
  for (const header of CLIENT_HEADERS) {
    const key = headers[header];
    if (typeof key === 'string') found = sameKey(found, { key, header });
  }
  if (typeof inQuery === 'string') found = sameKey(found, { key: inQuery, header: 'the query' });
  if (found !== undefined) return { kind: 'api_key', key: found.key };
  return token === undefined ? { kind: 'none' } : { kind: 'token', token };
}

interface KeyAt {
  readonly key: string;
  readonly header: string;
}

function sameKey(one: KeyAt | undefined, other: KeyAt): KeyAt | undefined {
  if (!looksLikeApiKey(other.key)) return one;
  if (one === undefined || one.key === other.key) return one ?? other;
  const message = `The headers ${one.header} and ${other.header} have different gateway keys.`;
  throw keyInvalid('two keys', message);
}

/** @param message instead of the one of its code */
export function keyInvalid(reason: string, message?: string): GatewayError {
  return new GatewayError('api_key_invalid', {
    message,
    reason,
    headers: { 'www-authenticate': 'Bearer realm="tollgate"' },
  });
}
