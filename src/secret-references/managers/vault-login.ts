import { readFile } from 'node:fs/promises';
import { SecretError, type AuthConfig } from './secret-manager.types.js';
import { encodePath } from './vault-path.js';

/** Where Kubernetes keeps the token of a pod's service account; it changes about once an hour. */
export const SERVICE_ACCOUNT_TOKEN_PATH = '/var/run/secrets/kubernetes.io/serviceaccount/token';

export interface VaultLogin {
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
