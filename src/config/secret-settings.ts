import { IsInt, IsString, Matches, Max, Min } from 'class-validator';
import { UUID_PATTERN } from '../common/uuid.js';
import { ToList, ToNumber } from '../common/validation/conversion.decorators.js';
import { AdministratorSettings } from './administrator-settings.js';
import { IsAddress, IsWebAddress, OptionalSetting } from './setting.decorators.js';

const ORGANISATION_ID = new RegExp(`^${UUID_PATTERN}$`);

/** `<organisation id or *> <manager_type> <pattern>`; which managers there are, `IdentityAllowList` checks. */
const IDENTITY_ENTRY = new RegExp(`^(?:\\*|${UUID_PATTERN}) \\S+ \\S+$`);

/** Follows the name of the setting in an error message. */
export const IDENTITY_ENTRIES = 'must list entries of the form "<organisation id or *> <manager_type> <pattern>"';

/** Settings of secret managers, and of the gateway's own identity in the clouds. */
export class SecretSettings extends AdministratorSettings {
  /** Organisations (ids) whose virtual keys may use the gateway's own AWS identity (`aws_auth_type: serviceRole`). */
  @ToList()
  @Matches(ORGANISATION_ID, { each: true, message: '$property must list ids of organisations' })
  readonly AWS_SERVICE_ROLE_ORGANISATIONS: readonly string[] = [];

  /** With the secret, the gateway's own AWS identity; without, the SDK's default chain looks for one. */
  @OptionalSetting()
  @IsString()
  readonly AWS_ACCESS_KEY_ID?: string;

  @OptionalSetting()
  @IsString()
  readonly AWS_SECRET_ACCESS_KEY?: string;

  @OptionalSetting()
  @IsString()
  readonly AWS_SESSION_TOKEN?: string;

  /** For AWS Secrets Manager behind another address (a VPC endpoint, a local stack). */
  @OptionalSetting()
  @IsWebAddress()
  readonly AWS_ENDPOINT_URL_SECRETS_MANAGER?: string;

  @OptionalSetting()
  @IsWebAddress()
  readonly AWS_ENDPOINT_URL_STS?: string;

  /** Organisations (ids) whose virtual keys may use Google identities of the gateway's machine: metadata server, files. */
  @ToList()
  @Matches(ORGANISATION_ID, { each: true, message: '$property must list ids of organisations' })
  readonly GOOGLE_IDENTITY_ORGANISATIONS: readonly string[] = [];

  /** Files with tokens for workload identity federation that credentials may name, as a projected service account token. */
  @ToList()
  @Matches(/^\//, { each: true, message: '$property must list absolute paths' })
  readonly GOOGLE_SUBJECT_TOKEN_FILES: readonly string[] = [];

  /** Hosts of Google's APIs end in one of these: tokens of the gateway's machine go nowhere else. */
  @ToList()
  @Matches(/^[.a-z0-9-]+$/, {
    each: true,
    message: '$property must list host names or their ends, as .googleapis.com',
  })
  readonly GOOGLE_API_HOSTS: readonly string[] = ['.googleapis.com'];

  /** The metadata server of Google Cloud. */
  @Matches(/^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[1-9]\d{0,4})?$/i, {
    message: '$property must be the name of a host, with a port if it is not 80',
  })
  readonly GCE_METADATA_HOST: string = 'metadata.google.internal';

  /** Where Entra ID gives tokens; sovereign clouds have their own. */
  @IsAddress(['https'])
  readonly AZURE_AUTHORITY_HOST: string = 'https://login.microsoftonline.com';

  /** Which managed identity of the machine is the gateway's own; the SDK also reads it for an application or a workload. */
  @OptionalSetting()
  @IsString()
  readonly AZURE_CLIENT_ID?: string;

  /** Hosts of vaults end in one of these: a credential for Key Vault goes nowhere else. */
  @ToList()
  @Matches(/^[.a-z0-9-]+$/, {
    each: true,
    message: '$property must list host names or their ends, as .vault.azure.net',
  })
  readonly AZURE_VAULT_HOSTS: readonly string[] = ['.vault.azure.net', '.vault.azure.cn', '.vault.usgovcloudapi.net'];

  /**
   * Secrets that an organisation may read with the gateway's own identity, separated by commas; `*` in the pattern stands
   * for any characters, in a host for any but `/` and `#`.
   */
  @ToList()
  @Matches(IDENTITY_ENTRY, { each: true, message: `$property ${IDENTITY_ENTRIES}` })
  readonly SECRET_IDENTITY_ALLOW: readonly string[] = [];

  /** Time for one request to a secret manager. */
  @ToNumber()
  @IsInt()
  @Min(100)
  @Max(30_000)
  readonly SECRET_MANAGER_TIMEOUT_MS: number = 3_000;

  /** How long a fetched secret is used before it is fetched again. */
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(86_400_000)
  readonly SECRET_CACHE_MS: number = 300_000;

  /** How much longer it is used while its manager fails. */
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(86_400_000)
  readonly SECRET_STALE_MS: number = 900_000;
}

/** The SDK would ignore half of an identity and use any other that the machine has. */
export function awsIdentityProblems(settings: SecretSettings): readonly string[] {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = settings;
  if ((id === undefined) !== (secret === undefined)) {
    return ['AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together: set both or none'];
  }
  if (token === undefined || id !== undefined) return [];
  return ['AWS_SESSION_TOKEN is of no use without AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY'];
}
