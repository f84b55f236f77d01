import { looksLikeApiKey } from '../../api-keys/api-key-format.js';
import { KEY_HEADERS } from '../../common/http/gateway-headers.js';
import { headerValue, type RawHeader } from '../headers/raw-headers.js';

const BEARER = /^Bearer +(\S+)$/i;

/** The gateway key of a request, from its own header or from a bearer token that has the form of a key. */
export function keyIn(headers: readonly RawHeader[]): string | undefined {
  const [own, other] = KEY_HEADERS;
  const key = headerValue(headers, own) ?? headerValue(headers, other);
  if (key !== undefined && key !== '') return key;
  const [, token] = BEARER.exec(headerValue(headers, 'authorization') ?? '') ?? [];
  return token !== undefined && looksLikeApiKey(token) ? token : undefined;
}

/**
 * A user's token in the named header. `Bearer` is optional in other headers than `Authorization`. Never returns a gateway key,
 * so that a key is never forwarded as a token.
 */
export function tokenIn(headers: readonly RawHeader[], headerName: string): string | undefined {
  const value = headerValue(headers, headerName)?.trim();
  if (value === undefined || value === '') return undefined;
  const bearer = BEARER.exec(value)?.[1];
  const token = bearer ?? (headerName === 'authorization' ? undefined : value);
  return token === undefined || looksLikeApiKey(token) ? undefined : token;
}
