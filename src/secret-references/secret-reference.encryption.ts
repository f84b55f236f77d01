import { Injectable } from '@nestjs/common';
import { isObject } from '../common/json/read.js';
import { openSealed } from '../sealing/decrypted.js';
import { type SealedPlace, Sealer } from '../sealing/sealer.js';
import type { AuthConfig } from './managers/secret-manager.types.js';
import type { SecretReference } from './secret-reference.entity.js';

type SealableRow = Pick<SecretReference, 'id' | 'organisationId'>;

const DOES_NOT_OPEN = 'The stored auth_config of the secret reference does not open.';

/** Seals and opens the secret fields of `auth_config`. They are bound to their tenant, row and column. */
@Injectable()
export class SecretReferenceEncryptor {
  constructor(private readonly sealer: Sealer) {}

  seal(row: SealableRow, secrets: AuthConfig): string | null {
    return Object.keys(secrets).length === 0 ? null : this.sealer.seal(JSON.stringify(secrets), placeOf(row));
  }

  /**
   * The whole `auth_config`, under the interface's names.
   * @throws GatewayError `secret_unavailable` when it is damaged or its master key is not configured
   */
  open(row: SecretReference): AuthConfig {
    return { ...row.authConfig, ...this.openSecrets(row) };
  }

  private openSecrets(row: SecretReference): AuthConfig {
    if (row.sealedAuthConfig === null) return {};
    const text = openSealed(this.sealer, row.sealedAuthConfig, placeOf(row), DOES_NOT_OPEN);
    const secrets: unknown = JSON.parse(text);
    if (!isObject(secrets)) return {};
    return Object.fromEntries(Object.entries(secrets).map(([field, value]) => [field, String(value)]));
  }
}

export function placeOf(row: SealableRow): SealedPlace {
  return {
    organisationId: row.organisationId,
    table: 'secret_references',
    rowId: row.id,
    field: 'sealed_auth_config',
  };
}
