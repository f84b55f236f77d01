import type { IncomingHttpHeaders } from 'node:http';
import { gatewayHeader } from '../common/http/gateway-headers.js';
import { looksLikeApiKey } from './api-key-format.js';

/** What a request brings to say who its caller is. */
export type Credentials =
  | { readonly kind: 'api_key'; readonly key: string }
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'none' };

/** The gateway key's own header first; a bearer token counts as a key when it has the key's form. */
export function readCredentials(headers: IncomingHttpHeaders): Credentials {
  const key = gatewayHeader(headers, 'api-key');
  if (key !== undefined) return { kind: 'api_key', key };
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (token === undefined) return { kind: 'none' };
  return looksLikeApiKey(token) ? { kind: 'api_key', key: token } : { kind: 'token', token };
}
