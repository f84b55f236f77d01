import { mask } from '../../common/mask.js';
import type { JwtValidationFields } from '../../identity/config/identity-config.js';

/** As it came in, but for its one secret, which is sealed. */
export type StoredJwtValidation = Omit<JwtValidationFields, 'introspection'> & {
  readonly introspection?: Omit<NonNullable<JwtValidationFields['introspection']>, 'client_secret'>;
};

export function withoutSecret(dto: JwtValidationFields): StoredJwtValidation {
  const { introspection, ...others } = dto;
  if (introspection === undefined) return others;
  const { client_secret: _sealed, ...rest } = introspection;
  return { ...others, introspection: rest };
}

/** Without a secret there is none in it: it comes from a secret reference. */
export function withSecret(stored: StoredJwtValidation, secret: string | undefined): JwtValidationFields {
  const { introspection, ...others } = withoutSecret(stored);
  if (introspection === undefined) return others;
  return {
    ...others,
    introspection: secret === undefined ? introspection : { ...introspection, client_secret: secret },
  };
}

export function withMaskedSecret(stored: StoredJwtValidation, secret: string | undefined): JwtValidationFields {
  return withSecret(stored, secret === undefined ? undefined : mask(secret));
}
