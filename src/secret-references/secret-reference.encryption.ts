import { Injectable } from '@nestjs/common';
import { openObject, sealObject } from '../sealing/decrypted.js';
import { placeIn, Sealer } from '../sealing/sealer.js';
import type { AuthConfig } from './managers/secret-manager.types.js';
import type { SecretReference } from './secret-reference.entity.js';

const DOES_NOT_OPEN = 'The stored auth_config of the secret reference does not open.';

const placeOf = placeIn('secret_references', 'sealed_auth_config');

/** Seals and opens the secret fields of `auth_config`. They are bound to their tenant, row and column. */
@Injectable()
export class SecretReferenceEncryptor {
  constructor(private readonly sealer: Sealer) {}

  seal(row: Pick<SecretReference, 'id' | 'organisationId'>, secrets: AuthConfig): string | null {
    return sealObject(this.sealer, secrets, placeOf(row));
  }

  /**
   * The whole `auth_config`, under the interface's names.
   * @throws GatewayError `secret_unavailable` when it is damaged or its master key is not configured
   */
  open(row: SecretReference): AuthConfig {
    const secrets = openObject(this.sealer, row.sealedAuthConfig, placeOf(row), DOES_NOT_OPEN);
    const texts = Object.entries(secrets).map(([field, value]) => [field, String(value)] as const);
    return { ...row.authConfig, ...Object.fromEntries(texts) };
  }
}
