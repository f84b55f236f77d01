import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import { isObject } from '../common/json/read.js';
import { SealError, type SealedPlace, Sealer } from '../sealing/sealer.js';
import type { AuthConfig } from './managers/secret-manager.types.js';
import type { SecretReference } from './secret-reference.entity.js';

type SealableRow = Pick<SecretReference, 'id' | 'organisationId'>;

/** Seals and opens the secret fields of `auth_config`. They are bound to their tenant, row and column. */
@Injectable()
export class SecretReferenceVault {
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
    const secrets: unknown = JSON.parse(this.openText(row.sealedAuthConfig, placeOf(row)));
    if (!isObject(secrets)) return {};
    return Object.fromEntries(Object.entries(secrets).map(([field, value]) => [field, String(value)]));
  }

  private openText(sealed: string, place: SealedPlace): string {
    try {
      return this.sealer.open(sealed, place);
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      const message = 'The stored auth_config of the secret reference does not open.';
      throw new GatewayError('secret_unavailable', { message, reason: error.message, cause: error });
    }
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
