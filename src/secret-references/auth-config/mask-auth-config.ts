import { mask } from '../../common/mask.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import type { AuthScheme } from './auth-scheme.types.js';
import { maskName } from './given-auth-config.js';
import { fieldsOf } from './scheme-fields.js';
import { type Spelling, toSpelling } from './spelling.js';

/** What is shown of `auth_config`: of each secret field `f` only `masked_f`. */
export function maskAuthConfig(scheme: AuthScheme, spelling: Spelling, config: AuthConfig): Record<string, string> {
  return Object.fromEntries(
    Object.entries(config).map(([field, value]) => {
      const name = toSpelling(scheme.manager, spelling, field);
      return scheme.sensitive.has(field) ? [maskName(name), mask(value)] : [name, value];
    }),
  );
}

/** In the place of a secret that cannot be opened. No secret is empty, and its mask shows that something is there. */
export const UNREADABLE = '';

/** The secrets that a config may have, when they cannot be opened. */
export function unreadableSecrets(scheme: AuthScheme, open: AuthConfig): AuthConfig {
  const fields = [...(fieldsOf(scheme, open[scheme.discriminator]) ?? [])];
  return Object.fromEntries(fields.filter((field) => scheme.sensitive.has(field)).map((field) => [field, UNREADABLE]));
}
