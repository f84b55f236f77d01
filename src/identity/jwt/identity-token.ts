import { sign } from 'node:crypto';
import { promisify } from 'node:util';
import type { JsonObject } from '../../common/json/read.js';
import type { SigningKey } from './signing-keys.js';

/** Fixed by the interface; servers compare it. */
const ISSUER = 'service-mcp-gateway';

/** With a callback, Node signs on its thread pool. An RSA signature takes about 1 ms and would block the event loop. */
const signOnThreadPool = promisify(sign);

export interface IdentityTokenRequest {
  readonly claims: JsonObject;
  readonly expirySeconds: number;
  readonly audience?: string | undefined;
  /** The organisation of the server, and how the user was authenticated, where the server asks for them. */
  readonly origin?: TokenOrigin | undefined;
}

export interface TokenOrigin {
  readonly org: string;
  readonly auth_method: 'api_key' | 'oauth' | 'external_idp' | 'administrator';
}

/**
 * Claims that servers may use to refuse tokens of others: no claim of a user, whose provider any organisation chooses, may
 * stand in their place.
 */
export const SIGNED_BY_GATEWAY: ReadonlySet<string> = new Set(['aud', 'org', 'auth_method']);

export interface IdentityToken {
  readonly text: string;
  /** Unix milliseconds, on a whole second. */
  readonly expiresAt: number;
}

/** A JWT (RFC 7519) in JWS compact serialization (RFC 7515, section 3.1), signed RS256. */
export async function signIdentityToken(
  request: IdentityTokenRequest,
  key: SigningKey,
  now: Date,
): Promise<IdentityToken> {
  const issuedAt = Math.floor(now.getTime() / 1000);
  const expiresAt = issuedAt + request.expirySeconds;
  // The gateway's own claims are last: neither include_claims nor a foreign token can set them.
  const claims = Object.entries(request.claims).filter(([name]) => !SIGNED_BY_GATEWAY.has(name));
  const payload = {
    ...Object.fromEntries(claims),
    ...request.origin,
    ...(request.audience === undefined ? {} : { aud: request.audience }),
    iss: ISSUER,
    iat: issuedAt,
    exp: expiresAt,
  };
  const input = `${encode({ alg: 'RS256', typ: 'JWT', kid: key.kid })}.${encode(payload)}`;
  return { text: `${input}.${await signatureOf(input, key)}`, expiresAt: expiresAt * 1000 };
}

/** RS256 (RFC 7518, section 3.3) over `<header>.<payload>`. */
export async function signatureOf(input: string, { privateKey }: Pick<SigningKey, 'privateKey'>): Promise<string> {
  return (await signOnThreadPool('sha256', Buffer.from(input), privateKey)).toString('base64url');
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
