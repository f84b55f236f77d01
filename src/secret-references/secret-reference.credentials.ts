import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { mask } from '../common/mask.js';
import { AppConfig } from '../config/environment.js';
import { incompleteUpdate, type Decrypted, decryptOr, openObject, sealObject } from '../sealing/decrypted.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { placeIn, Sealer } from '../sealing/sealer.js';
import type { AuthScheme, SecretAddress } from './auth-config/auth-scheme.types.js';
import { authScheme } from './auth-config/auth-schemes.js';
import { checkAuthConfig } from './auth-config/check-auth-config.js';
import { readAuthConfig, maskAuthConfig, UNREADABLE, unreadableSecrets } from './auth-config/given-auth-config.js';
import { mergeAuthConfig } from './auth-config/merge-auth-config.js';
import { IdentityAllowList } from './identity-allow-list.js';
import type { AuthConfig } from './managers/secret-manager.types.js';
import type { SecretReference } from './secret-reference.entity.js';

/** The columns that hold `auth_config`. */
export type SealedColumns = Pick<SecretReference, 'authConfig' | 'sealedAuthConfig'>;

/** The columns that name the manager. */
export type ManagerColumns = Pick<SecretReference, 'managerType' | 'spelling'>;

type NewRow = ManagerColumns & Pick<SecretReference, 'id' | 'organisationId'>;

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

/** What a secret reference holds for its manager: checked on the way in, sealed at rest, masked on the way out. */
@Injectable()
export class SecretReferenceCredentials {
  constructor(
    private readonly encryptor: SecretReferenceEncryptor,
    private readonly identities: IdentityAllowList,
    private readonly egress: EgressPolicy,
    private readonly config: AppConfig,
  ) {}

  /** @throws GatewayError `validation_failed` for what the manager does not take */
  check(manager: ManagerColumns, given: JsonObject, address: SecretAddress): void {
    this.checked(manager, {}, given, address);
  }

  /**
   * @throws GatewayError `validation_failed` for what the manager does not take, `permission_denied` for secrets that the
   * organisation may not read with the gateway's own identity
   */
  seal(row: NewRow, given: JsonObject, address: SecretAddress): SealedColumns {
    return this.sealed(row, this.merged(row, {}, given, address));
  }

  /** Lays an update over what is stored and checks the whole; undefined when nothing changes. Throws as `seal`. */
  reseal(row: SecretReference, given: JsonObject, address: SecretAddress): SealedColumns | undefined {
    const { value: config, failure } = this.stored(row);
    const merged = this.merged(row, config, given, address, failure);
    return isDeepStrictEqual(merged, config) ? undefined : this.sealed(row, merged);
  }

  /** One value that does not open must not hide the reference that has it, nor the whole list. */
  toMasked(row: SecretReference, show = mask): Record<string, string> {
    return maskAuthConfig(authScheme(row.managerType), row.spelling, this.stored(row).value, show);
  }

  private merged(
    row: NewRow,
    stored: AuthConfig,
    sent: JsonObject,
    address: SecretAddress,
    failure?: GatewayError,
  ): AuthConfig {
    const checked = this.checked(row, stored, sent, address, failure);
    const target = authScheme(row.managerType).identityTarget(checked, address);
    if (target !== undefined && !this.identities.allows(row.organisationId, row.managerType, target))
      throw notAllowed();
    return checked;
  }

  private checked(
    { managerType, spelling }: ManagerColumns,
    stored: AuthConfig,
    sent: JsonObject,
    address: SecretAddress,
    failure?: GatewayError,
  ): AuthConfig {
    const scheme = authScheme(managerType);
    const given = readAuthConfig(scheme, sent, spelling);
    const merged = mergeAuthConfig(scheme, stored, given, () => `tollgate-${randomUUID()}`);
    if (failure !== undefined) assertReplaced(scheme, merged, given.nameOf, failure);
    const rules = { egress: this.egress, azureVaultHosts: this.config.AZURE_VAULT_HOSTS };
    return checkAuthConfig(scheme, merged, address, rules, given.nameOf);
  }

  private sealed(row: NewRow, config: AuthConfig): SealedColumns {
    const { sensitive } = authScheme(row.managerType);
    const fields = Object.entries(config);
    const secrets = Object.fromEntries(fields.filter(([field]) => sensitive.has(field)));
    return {
      authConfig: Object.fromEntries(fields.filter(([field]) => !sensitive.has(field))),
      sealedAuthConfig: this.encryptor.seal(row, secrets),
    };
  }

  /** What does not open has empty secrets instead, and the reason. */
  private stored(row: SecretReference): Decrypted<AuthConfig> {
    const secrets = unreadableSecrets(authScheme(row.managerType), row.authConfig);
    return decryptOr(() => this.encryptor.open(row), { ...row.authConfig, ...secrets });
  }
}

/** Where the stored secrets do not open, an update has to bring them all, or say that there is none. */
function assertReplaced(
  scheme: AuthScheme,
  merged: JsonObject,
  nameOf: (field: string) => string,
  failure: GatewayError,
): void {
  const missing = [...scheme.sensitive].filter((field) => merged[field] === UNREADABLE);
  if (missing.length === 0) return;
  const names = missing.map((field) => `auth_config.${nameOf(field)}`).join(', ');
  throw incompleteUpdate(failure, `Send again, or set to null: ${names}.`);
}

function notAllowed(): GatewayError {
  return new GatewayError('permission_denied', {
    message:
      "This organisation may not read that secret with the gateway's own identity; the operator allows it in the setting SECRET_IDENTITY_ALLOW.",
    param: 'auth_config',
  });
}
