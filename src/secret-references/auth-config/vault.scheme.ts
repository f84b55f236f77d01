import { fieldError, type FieldProblem } from '../../common/errors/gateway.error.js';
import { X509Certificate } from 'node:crypto';
import { buildMessage, IsIn, IsString, Matches, MaxLength, ValidateBy } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';
import { VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS } from '../../common/constants.js';
import { egressProblem } from '../../upstream/egress/egress-refused.error.js';
import { vaultPathProblem } from '../managers/vault-path.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import type { AuthRules, AuthScheme, SecretAddress } from './auth-scheme.types.js';

const URL_TEXT = /^https?:\/\/[^\s?#%\\]+$/i;
/** Names between slashes that begin with a letter, digit or underscore: never `..`, never an empty one. */
const PATH_NAME = /^\w[\w.~@+-]*(?:\/\w[\w.~@+-]*)*\/?$/;
const ROLE_NAME = /^\w(?:[\w.-]*\w)?$/;
const PEM_CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
const POSITIVE_INTEGER = /^[1-9]\d{0,8}$/;

const pathName = { message: '$property must be names of letters, digits, _ . ~ @ + and -, parted by slashes' };
const roleName = { message: '$property must be a name of letters, digits, _ . and -' };

abstract class VaultAuth {
  @IsString()
  @MaxLength(2_048)
  @Matches(URL_TEXT, { message: '$property must be an https URL without a query, a fragment or percent signs' })
  readonly vendorC_addr: string;

  @Optional()
  @IsString()
  @MaxLength(255)
  @Matches(PATH_NAME, pathName)
  readonly vendorC_namespace?: string;

  /** Certificate authorities that are trusted instead of the system's. */
  @Optional()
  @IsString()
  @MaxLength(65_536)
  @IsPemCertificates()
  readonly vendorC_ca_cert?: string;

  /** Absent: found out. Needed when the token may not look up mounts and guessing fails. */
  @Optional()
  @IsIn(['1', '2'])
  readonly vendorC_kv_version?: '1' | '2';
}

abstract class VaultLoginAuth extends VaultAuth {
  /** Behind `auth/`; absent: the name of the method. */
  @Optional()
  @IsString()
  @MaxLength(255)
  @Matches(PATH_NAME, pathName)
  readonly vendorC_auth_mount?: string;
}

class VaultTokenAuth extends VaultAuth {
  @IsIn(['token'])
  readonly vendorC_auth_type: 'token';

  @IsString()
  @MaxLength(4_096)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly vendorC_token: string;
}

class VaultAppRoleAuth extends VaultLoginAuth {
  @IsIn(['approle'])
  readonly vendorC_auth_type: 'approle';

  @IsString()
  @MaxLength(4_096)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly vendorC_role_id: string;

  @IsString()
  @MaxLength(4_096)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly vendorC_secret_id: string;
}

class VaultKubernetesAuth extends VaultLoginAuth {
  @IsIn(['kubernetes'])
  readonly vendorC_auth_type: 'kubernetes';

  @IsString()
  @MaxLength(255)
  @Matches(ROLE_NAME, roleName)
  readonly vendorC_role: string;
}

class VaultJwtAuth extends VaultLoginAuth {
  @IsIn(['jwt'])
  readonly vendorC_auth_type: 'jwt';

  @IsString()
  @MaxLength(255)
  @Matches(ROLE_NAME, roleName)
  readonly vendorC_role: string;

  @IsString()
  @MaxLength(16_384)
  @Matches(/^[\w-]+\.[\w-]+\.[\w-]+$/, { message: '$property must be a signed JSON Web Token' })
  readonly vendorC_jwt: string;
}

export const vaultScheme: AuthScheme = {
  manager: 'vendorC_vault',
  names: {
    interface: { managerType: 'vendorC_vault', prefix: 'vendorC_' },
    vendor: { managerType: 'hashicorp_vault', prefix: 'vault_' },
  },
  discriminator: 'vendorC_auth_type',
  hostField: 'vendorC_addr',
  variants: {
    token: VaultTokenAuth,
    approle: VaultAppRoleAuth,
    kubernetes: VaultKubernetesAuth,
    jwt: VaultJwtAuth,
  },
  sensitive: new Set(['vendorC_token', 'vendorC_secret_id', 'vendorC_jwt']),
  problems: (config, address, rules) => [
    ...problemOf('auth_config.vendorC_addr', addrProblem(config['vendorC_addr'] ?? '', rules)),
    ...problemOf('auth_config.vendorC_auth_mount', mountProblem(config['vendorC_auth_mount'])),
    ...problemOf('secret_path', vaultPathProblem(address.path)),
    ...problemOf('secret_version', versionProblem(address.version, config['vendorC_kv_version'])),
  ],
  identityTarget,
};

function problemOf(param: string, text: string | undefined): readonly FieldProblem[] {
  return text === undefined ? [] : [fieldError(param, text)];
}

function addrProblem(text: string, { egress }: AuthRules): string | undefined {
  if (!URL_TEXT.test(text) || !URL.canParse(text)) return 'must be a URL';
  // The URL class would resolve them, and what is called would not be what was read.
  if (/\/\.{1,2}(?:\/|$)/.test(text)) return 'must not have dot segments';
  if (/\/v1\/*$/.test(text)) return 'must not end in /v1: the gateway adds it';
  return egressProblem(egress, text);
}

function mountProblem(mount: string | undefined): string | undefined {
  return mount?.startsWith('auth/') === true ? 'must not begin with auth/: the gateway adds it' : undefined;
}

function versionProblem(version: string | undefined, kvVersion: string | undefined): string | undefined {
  if (version === undefined) return undefined;
  if (!POSITIVE_INTEGER.test(version)) return 'must be a positive integer';
  return kvVersion === '1' ? 'is not used with version 1 of the key/value engine' : undefined;
}

/**
 * `<address>#<role>`, and when they are given `<address>#<namespace>/<role>@<mount>`: a role of the same name in another
 * namespace, or at another mount, is another role.
 */
function identityTarget(config: AuthConfig, _address: SecretAddress): string | undefined {
  if (config['vendorC_auth_type'] !== 'kubernetes') return undefined;
  const addr = config['vendorC_addr'] ?? '';
  const url = URL.canParse(addr) ? new URL(addr) : { origin: addr, pathname: '' };
  const namespace = withoutSlash(config['vendorC_namespace'] ?? '');
  const mount = withoutSlash(config['vendorC_auth_mount'] ?? 'kubernetes');
  const role = `${namespace === '' ? '' : `${namespace}/`}${config['vendorC_role'] ?? ''}`;
  return `${url.origin}${withoutSlash(url.pathname)}#${role}${mount === 'kubernetes' ? '' : `@${mount}`}`;
}

function withoutSlash(text: string): string {
  return text.replace(/\/+$/, '');
}

function IsPemCertificates(): PropertyDecorator {
  return ValidateBy({
    name: 'isPemCertificates',
    validator: {
      validate: isPemCertificates,
      defaultMessage: buildMessage(() => '$property must hold one or more certificates in PEM form, and nothing else'),
    },
  });
}

function isPemCertificates(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const certificates = value.match(PEM_CERTIFICATE) ?? [];
  if (certificates.length === 0 || value.replace(PEM_CERTIFICATE, '').trim() !== '') return false;
  return certificates.every(isCertificate);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
