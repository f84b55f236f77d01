import { readFile } from 'node:fs/promises';
import { numberOrUndefined, readNumber, readObject, type JsonObject } from '../../common/json/read.js';
import { SecretError, type AuthConfig } from './secret-manager.types.js';
import { encodePath } from './vault-path.js';

/** Where Kubernetes keeps the token of a pod's service account; it changes about once an hour. */
export const SERVICE_ACCOUNT_TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount/token';

interface VaultLogin {
  /** Behind `/v1/`. */
  readonly path: string;
  readonly body: Readonly<Record<string, string>>;
}

/** How a configuration gets its tokens; undefined when it has one. Made again for each login. */
export type PrepareLogin = () => Promise<VaultLogin>;

/** @throws SecretError `invalid_request` for a variant that does not exist */
export function loginFor(config: AuthConfig, serviceAccountTokenPath: string): PrepareLogin | undefined {
  const variant = config['vendorC_auth_type'];
  const mount = (config['vendorC_auth_mount'] ?? variant ?? '').replace(/\/+$/, '');
  const path = `auth/${encodePath(mount)}/login`;
  const role = config['vendorC_role'] ?? '';
  switch (variant) {
    case 'token':
      return undefined;
    case 'approle':
      return () =>
        Promise.resolve({
          path,
          body: { role_id: config['vendorC_role_id'] ?? '', secret_id: config['vendorC_secret_id'] ?? '' },
        });
    case 'jwt':
      return () => Promise.resolve({ path, body: { role, jwt: config['vendorC_jwt'] ?? '' } });
    case 'kubernetes':
      return async () => ({ path, body: { role, jwt: await readServiceAccountToken(serviceAccountTokenPath) } });
    default:
      throw new SecretError('invalid_request', 'vendorC_auth_type is unknown');
  }
}

async function readServiceAccountToken(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (cause) {
    throw new SecretError('authentication_failed', `the service account token cannot be read at ${path}`, { cause });
  }
}

/** Visible ASCII, and so fit for a header. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;
/** Renewal begins when this part of the lease is over. */
const RENEW_AFTER = 2 / 3;

/** A token of Vault, and how long it is good. Times in milliseconds since 1970. */
export interface VaultLease {
  readonly token: string;
  readonly durationMs: number;
  readonly renewAt: number;
  /** Infinity: it does not expire. */
  readonly expiresAt: number;
  readonly isRenewable: boolean;
  /** undefined: as many as one likes. */
  usesLeft: number | undefined;
}

/**
 * Reads the answer to a login or a renewal. `askedAt`: when it was asked for, since the lease may run from then.
 * @throws SecretError `invalid_response`
 */
export function readLease(body: JsonObject, askedAt: number): VaultLease {
  try {
    const auth = readObject(body['auth'], 'auth');
    const token = auth['client_token'];
    if (typeof token !== 'string' || !TOKEN.test(token)) throw new Error('expected a token at auth.client_token');
    const durationMs = readNumber(auth['lease_duration'], 'auth.lease_duration') * 1_000;
    const uses = numberOrUndefined(auth['num_uses']) ?? 0;
    return {
      token,
      durationMs,
      renewAt: durationMs > 0 ? askedAt + durationMs * RENEW_AFTER : Infinity,
      expiresAt: durationMs > 0 ? askedAt + durationMs : Infinity,
      // A batch token has no lease to renew, and each renewal would cost one of a limited number of uses.
      isRenewable: auth['renewable'] === true && auth['token_type'] !== 'batch' && uses === 0,
      usesLeft: uses > 0 ? uses : undefined,
    };
  } catch (cause) {
    throw new SecretError('invalid_response', cause instanceof Error ? cause.message : 'no lease', { cause });
  }
}
