import { fieldError, type FieldProblem } from '../../common/errors/gateway.error.js';
import { Equals, IsString, Matches, MaxLength, MinLength } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';
import { egressProblem } from '../../upstream/egress/egress-refused.error.js';
import { azureVaultProblem, isAzureSecretVersion, readAzureSecretPath } from '../managers/azure-secret-name.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import type { AuthRules, AuthScheme, SecretAddress } from './auth-scheme.types.js';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** A tenant's id, or one of its verified domains. Without a dot it could be `common`, which is not a tenant. */
const TENANT = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=.{1,253}$)[0-9a-z-]{1,63}(?:\.[0-9a-z-]{1,63})+)$/i;
const TENANT_MESSAGE = '$property must be a UUID or a domain name';
const UUID_MESSAGE = '$property must be a UUID';

const MODE = 'cloudB_auth_mode';
const VAULT_URL_PARAM = 'auth_config.cloudB_vault_url';

class AzureVault {
  @IsString()
  @MaxLength(2_048)
  readonly cloudB_vault_url!: string;
}

/** An application of Entra ID with a client secret. */
class AzureEntraAuth extends AzureVault {
  @Equals('entra')
  readonly cloudB_auth_mode!: 'entra';

  @Matches(TENANT, { message: TENANT_MESSAGE })
  readonly cloudB_entra_tenant_id!: string;

  @Matches(UUID, { message: UUID_MESSAGE })
  readonly cloudB_entra_client_id!: string;

  @IsString()
  @MinLength(1)
  @MaxLength(1_024)
  readonly cloudB_entra_client_secret!: string;
}

/** A managed identity of the machine that the gateway runs on: its own one, or the one with the client id. */
class AzureManagedAuth extends AzureVault {
  @Equals('managed')
  readonly cloudB_auth_mode!: 'managed';

  @Optional()
  @Matches(UUID, { message: UUID_MESSAGE })
  readonly cloudB_managed_client_id?: string;
}

/** The gateway's own identity: environment, workload identity or managed identity, the first that is set up. */
class AzureDefaultAuth extends AzureVault {
  @Equals('default')
  readonly cloudB_auth_mode!: 'default';
}

/** Azure Key Vault. */
export const azureScheme: AuthScheme = {
  manager: 'cloudB_kv',
  names: {
    interface: { managerType: 'cloudB_kv', prefix: 'cloudB_' },
    vendor: { managerType: 'azure_kv', prefix: 'azure_' },
  },
  discriminator: MODE,
  hostField: 'cloudB_vault_url',
  variants: { entra: AzureEntraAuth, managed: AzureManagedAuth, default: AzureDefaultAuth },
  sensitive: new Set(['cloudB_entra_client_secret']),

  problems(config, address, rules) {
    const vault = vaultProblem(config, rules);
    if (vault !== undefined) return [{ param: VAULT_URL_PARAM, message: `${VAULT_URL_PARAM} ${vault}` }];
    return addressProblems(address, new URL(vaultUrlOf(config)).origin);
  },

  identityTarget(config, address) {
    if (config[MODE] === 'entra') return undefined;
    const vault = vaultUrlOf(config);
    const origin = URL.canParse(vault) ? new URL(vault).origin : vault;
    return `${origin}/secrets/${readAzureSecretPath(address.path, origin)?.name ?? address.path}`;
  },
};

function vaultProblem(config: AuthConfig, rules: AuthRules): string | undefined {
  const url = vaultUrlOf(config);
  return azureVaultProblem(url, rules.azureVaultHosts) ?? egressProblem(rules.egress, url);
}

function addressProblems(address: SecretAddress, vaultOrigin: string): readonly FieldProblem[] {
  const secret = readAzureSecretPath(address.path, vaultOrigin);
  if (secret === undefined) {
    const expected = 'must be a name, name/version or the id of a secret in the vault of cloudB_vault_url';
    return [fieldError('secret_path', expected)];
  }
  if (address.version === undefined) return [];
  if (secret.version !== undefined) {
    return [fieldError('secret_version', 'must be absent when secret_path has a version')];
  }
  if (isAzureSecretVersion(address.version)) return [];
  return [fieldError('secret_version', 'must be 32 hexadecimal digits')];
}

function vaultUrlOf(config: AuthConfig): string {
  return config['cloudB_vault_url'] ?? '';
}
