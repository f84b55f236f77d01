import { Equals, Matches, MaxLength } from 'class-validator';
import { fieldError, type FieldProblem } from '../../common/errors/gateway.error.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS } from '../../common/constants.js';
import { AWS_REGION } from '../../upstream/aws/aws-region.js';
import { AWS_ROLE_ARN } from '../../upstream/aws/aws-role-arn.js';
import { readSecretName } from '../managers/aws-auth.js';
import type { AuthConfig } from '../managers/secret-manager.types.js';
import type { AuthScheme, SecretAddress } from './auth-scheme.types.js';

// AWS Secrets Manager. Source: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html and
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html, read 2026-11-21.

/** AWS takes 2,048 characters; a reference holds fewer. */
const MAX_PATH_CHARACTERS = 1_024;
/** A version's id has 32 to 64 characters, AWS's labels up to 256; a reference holds fewer. */
const MAX_VERSION_CHARACTERS = 64;
const REGION_MESSAGE = '$property must be the name of a region, for example us-east-1';
const CONTROL_CHARACTER = /\p{Cc}/u;

/** Signs with a stored access key. */
class AwsAccessKeyAuth {
  @Equals('accessKey')
  readonly cloudA_auth_type!: 'accessKey';

  /** Access key id of an IAM user, or of a temporary session. */
  @Matches(/^[\w-]{1,128}$/, { message: '$property must have 1 to 128 letters, digits, underscores and hyphens' })
  readonly cloudA_access_key_id!: string;

  /** Secret access key that belongs to `cloudA_access_key_id`. */
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  @MaxLength(256)
  readonly cloudA_secret_access_key!: string;

  /** Session token, when the access key is a temporary one. */
  @Optional()
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  @MaxLength(8_192)
  readonly cloudA_session_token?: string;

  /** Region that the secret is in, for example us-east-1. */
  @Matches(AWS_REGION, { message: REGION_MESSAGE })
  readonly cloudA_region!: string;
}

/** Signs with a role that the gateway assumes as itself, under an external id that the gateway made. */
class AwsAssumedRoleAuth {
  @Equals('assumedRole')
  readonly cloudA_auth_type!: 'assumedRole';

  /** ARN of the role to assume. Its trust policy must ask for the reference's `cloudA_external_id`. */
  @Matches(AWS_ROLE_ARN, { message: '$property must be the ARN of a role' })
  readonly cloudA_role_arn!: string;

  /** Region that the secret is in, for example us-east-1. */
  @Matches(AWS_REGION, { message: REGION_MESSAGE })
  readonly cloudA_region!: string;
}

/** Signs with the gateway's own AWS identity, where SECRET_IDENTITY_ALLOW lets the organisation. */
class AwsServiceRoleAuth {
  @Equals('serviceRole')
  readonly cloudA_auth_type!: 'serviceRole';

  /** Region that the secret is in; may be left out when the secret's path is an ARN. */
  @Optional()
  @Matches(AWS_REGION, { message: REGION_MESSAGE })
  readonly cloudA_region?: string;
}

export const awsScheme: AuthScheme = {
  manager: 'cloudA_sm',
  names: {
    interface: { managerType: 'cloudA_sm', prefix: 'cloudA_' },
    vendor: { managerType: 'aws_sm', prefix: 'aws_' },
  },
  discriminator: 'cloudA_auth_type',
  variants: {
    accessKey: AwsAccessKeyAuth,
    assumedRole: AwsAssumedRoleAuth,
    serviceRole: AwsServiceRoleAuth,
  },
  sensitive: new Set(['cloudA_access_key_id', 'cloudA_secret_access_key', 'cloudA_session_token']),
  // Chosen by callers, one tenant could name another's role and external id (the confused deputy).
  generated: { variant: 'assumedRole', field: 'cloudA_external_id' },
  problems: (config, address) => [...pathProblems(config, address), ...versionProblems(address)],
  identityTarget: (config, { path }) => (config['cloudA_auth_type'] === 'serviceRole' ? path : undefined),
};

function pathProblems(config: AuthConfig, { path }: SecretAddress): readonly FieldProblem[] {
  if (path.length === 0 || path.length > MAX_PATH_CHARACTERS || CONTROL_CHARACTER.test(path)) {
    return [
      fieldError(
        'secret_path',
        `must have 1 to ${MAX_PATH_CHARACTERS} characters and no control characters among them`,
      ),
    ];
  }
  const region = config['cloudA_region'];
  const name = readSecretName(path);
  if (name.form === 'wrong_arn') {
    return [
      fieldError('secret_path', "must be a secret's name, or the ARN of a secret of Secrets Manager in some region"),
    ];
  }
  if (name.form === 'arn') {
    if (region === undefined || region === name.region) return [];
    return [fieldError('secret_path', 'must name the same region in its ARN as auth_config.cloudA_region')];
  }
  if (region !== undefined) return [];
  return [fieldError('auth_config.cloudA_region', 'is required where secret_path is not an ARN')];
}

function versionProblems({ version }: SecretAddress): readonly FieldProblem[] {
  if (version === undefined) return [];
  if (version.length > 0 && version.length <= MAX_VERSION_CHARACTERS && !CONTROL_CHARACTER.test(version)) return [];
  return [
    fieldError(
      'secret_version',
      `must be the id or a staging label of a version, 1 to ${MAX_VERSION_CHARACTERS} characters without control characters`,
    ),
  ];
}
