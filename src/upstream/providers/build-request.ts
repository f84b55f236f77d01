import { GatewayError } from '../../common/errors/gateway.error.js';
import { VISIBLE_ASCII } from '../../common/constants.js';
import type { UpstreamRequest } from '../upstream.types.js';
import type { Credential, ProviderRequest } from './provider.types.js';

/** JSON in, JSON out. `credentialHeaders` win: no request may replace the credential. */
export function buildRequest(
  url: URL,
  request: ProviderRequest,
  credentialHeaders: Readonly<Record<string, string>>,
): UpstreamRequest {
  const body =
    request.bytes ?? (request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body), 'utf8'));
  const headers: Record<string, string> = {};
  // Field by field: a spread makes objects of ever new shapes, and all that is done with them afterwards is slow.
  if (request.headers !== undefined) copyHeaders(request.headers, headers);
  headers['accept'] = 'application/json';
  headers['user-agent'] = 'tollgate';
  if (body !== undefined) headers['content-type'] = 'application/json';
  copyHeaders(credentialHeaders, headers);
  return { method: request.method, url, headers, body };
}

function copyHeaders(from: Readonly<Record<string, string>>, to: Record<string, string>): void {
  for (const [name, value] of Object.entries(from)) to[name] = value;
}

export function bearer(credential: Pick<Credential, 'key'>): { readonly authorization: string } {
  return { authorization: `Bearer ${headerKey(credential)}` };
}

/** The key, fit for a header: a line break from a careless secret would otherwise fail far away, in the HTTP client. */
export function headerKey(credential: Pick<Credential, 'key'>): string {
  const { key } = credential;
  if (key === undefined || !VISIBLE_ASCII.test(key)) {
    const reason = 'the key is missing, or has characters that no header takes (a line break at its end?)';
    throw new GatewayError('secret_unavailable', { reason });
  }
  return key;
}
