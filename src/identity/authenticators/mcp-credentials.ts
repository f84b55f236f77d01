import { looksLikeApiKey, type Credentials, readCredentials } from '../../api-keys/api-key-format.js';
import { KEY_HEADERS } from '../../common/http/gateway-headers.js';
import { headerValue, type RawHeader } from '../headers/raw-headers.js';

/** The gateway key of a request, from its own header or from a bearer token that has the form of a key. */
export function keyIn(headers: readonly RawHeader[]): string | undefined {
  const credentials = credentialsIn(headers);
  return credentials.kind === 'api_key' ? credentials.key : undefined;
}

/**
 * A user's token in the named header. `Bearer` is optional in other headers than `Authorization`. Never returns a gateway key,
 * so that a key is never forwarded as a token.
 */
export function tokenIn(headers: readonly RawHeader[], headerName: string): string | undefined {
  const value = headerValue(headers, headerName)?.trim();
  if (value === undefined || value === '') return undefined;
  const bearer = /^Bearer +(\S+)$/i.exec(value)?.[1];
  const token = bearer ?? (headerName === 'authorization' ? undefined : value);
  return token === undefined || looksLikeApiKey(token) ? undefined : token;
}

function credentialsIn(headers: readonly RawHeader[]): Credentials {
  const [own, other] = KEY_HEADERS;
  return readCredentials({
    [own]: headerValue(headers, own),
    [other]: headerValue(headers, other),
    authorization: headerValue(headers, 'authorization'),
  });
}
