import { APP, type FakeAzure, VAULT_HOST } from '../../../../test/support/fake-azure.js';
import { EgressPolicy } from '../../../upstream/egress/egress-policy.js';
import { AzureKeyVault } from '../azure-key-vault.js';
import { type AuthConfig, SecretError, type SecretRequest } from '../secret-manager.types.js';
import { SecretTransport } from '../secret-transport.js';

const ORGANISATION = '0b6fb6a5-0000-4000-8000-000000000001';

interface Changes {
  readonly timeoutMs?: number;
  readonly authority?: string;
  readonly vaultHosts?: readonly string[];
  readonly egress?: EgressPolicy;
  readonly clientId?: string | undefined;
}

/** The strategy as the gateway has it, for one double; change what the test is about. */
export function azureKeyVault(azure: FakeAzure, changes: Changes = {}): AzureKeyVault {
  const settings = {
    // The first fetch of a process loads the SDK.
    SECRET_MANAGER_TIMEOUT_MS: changes.timeoutMs ?? 20_000,
    AZURE_AUTHORITY_HOST: changes.authority ?? azure.authority,
    AZURE_VAULT_HOSTS: changes.vaultHosts ?? [VAULT_HOST],
    ...(changes.clientId === undefined ? {} : { AZURE_CLIENT_ID: changes.clientId }),
  };
  const egress = changes.egress ?? new EgressPolicy(['127.0.0.1'], azure.resolve);
  return new AzureKeyVault(new SecretTransport(egress, settings, azure.ca), settings);
}

export function entraConfig(azure: FakeAzure, changes: Record<string, string> = {}): AuthConfig {
  return {
    cloudB_auth_mode: 'entra',
    cloudB_entra_tenant_id: APP.tenantId,
    cloudB_entra_client_id: APP.clientId,
    cloudB_entra_client_secret: APP.secret,
    cloudB_vault_url: azure.vaultUrl,
    ...changes,
  };
}

export function requestFor(path: string, authConfig: AuthConfig, version?: string): SecretRequest {
  return { organisationId: ORGANISATION, authConfig, path, version };
}

/** The error that a fetch must end with. */
export async function secretErrorOf(work: Promise<unknown>): Promise<SecretError> {
  const outcome: unknown = await work.then(
    () => 'a secret',
    (error: unknown) => error,
  );
  if (outcome instanceof SecretError) return outcome;
  throw new Error('expected a SecretError', { cause: outcome });
}
