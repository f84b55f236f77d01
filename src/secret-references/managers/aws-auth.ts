import { assertNever } from '../../common/assert-never.js';
import { AWS_REGION } from '../../upstream/aws/aws-region.js';
import { SecretError, type AuthConfig, type SecretRequest } from './secret-manager.types.js';

/** Who asks for a secret. */
export type AwsAuth =
  | {
      readonly type: 'accessKey';
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      readonly sessionToken: string | undefined;
    }
  | { readonly type: 'assumedRole'; readonly roleArn: string; readonly externalId: string }
  | { readonly type: 'serviceRole' };

/** Throws SecretError `invalid_request`. */
export function readAwsAuth(config: AuthConfig): AwsAuth {
  const type = config['cloudA_auth_type'];
  switch (type) {
    case 'accessKey':
      return {
        type,
        accessKeyId: required(config, 'cloudA_access_key_id'),
        secretAccessKey: required(config, 'cloudA_secret_access_key'),
        sessionToken: config['cloudA_session_token'],
      };
    case 'assumedRole':
      // Never without an external id, since every tenant could then name a role that trusts the gateway.
      return {
        type,
        roleArn: required(config, 'cloudA_role_arn'),
        externalId: required(config, 'cloudA_external_id'),
      };
    case 'serviceRole':
      return { type };
    default:
      throw new SecretError('invalid_request', 'auth_config.cloudA_auth_type is not one of AWS Secrets Manager');
  }
}

/** Where the secret is. Checked again although the reference was: it becomes a host. Throws SecretError `invalid_request`. */
export function readAwsRegion({ authConfig, path }: Pick<SecretRequest, 'authConfig' | 'path'>): string {
  const configured = authConfig['cloudA_region'];
  if (configured !== undefined && !AWS_REGION.test(configured)) {
    throw new SecretError('invalid_request', 'auth_config.cloudA_region is not the name of a region');
  }
  const name = readSecretName(path);
  switch (name.form) {
    case 'name':
      return required(authConfig, 'cloudA_region');
    case 'arn':
      if (configured === undefined || configured === name.region) return name.region;
      throw new SecretError('invalid_request', 'secret_path and auth_config.cloudA_region name different regions');
    case 'wrong_arn':
      throw new SecretError('invalid_request', 'secret_path is an ARN, but not that of a secret in some region');
    default:
      return assertNever(name);
  }
}

function required(config: AuthConfig, field: string): string {
  const value = config[field];
  if (value === undefined) throw new SecretError('invalid_request', `auth_config.${field} is missing`);
  return value;
}

// ARNs of secrets. Source: https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_iam-permissions.html,
// read 2026-11-21.

/** A name never begins so: colons are not allowed in one. */
const ANY_ARN = /^arn:/i;
/** AWS also takes an ARN without the six characters that it adds to a name. */
const SECRET_ARN = /^arn:aws[a-z-]*:secretsmanager:([^:]*):\d{12}:secret:[\w/+=.@!-]{1,519}$/;

type SecretName =
  | { readonly form: 'name' }
  | { readonly form: 'arn'; readonly region: string }
  /** An ARN of something else, or of a region that cannot be one. */
  | { readonly form: 'wrong_arn' };

/** What a secret's path is: a name in the caller's account and region, or an ARN, which names both. */
export function readSecretName(path: string): SecretName {
  if (!ANY_ARN.test(path)) return { form: 'name' };
  const region = SECRET_ARN.exec(path)?.[1];
  return region !== undefined && AWS_REGION.test(region) ? { form: 'arn', region } : { form: 'wrong_arn' };
}
