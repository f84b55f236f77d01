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

export function withSecret(stored: StoredJwtValidation, secret: string | undefined): JwtValidationFields {
  const { introspection, ...others } = stored;
  return introspection === undefined
    ? others
    : { ...others, introspection: { ...introspection, client_secret: secret ?? '' } };
}

export function withMaskedSecret(stored: StoredJwtValidation, secret: string | undefined): JwtValidationFields {
  return withSecret(stored, mask(secret ?? ''));
}
