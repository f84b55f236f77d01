// Provider P5. The endpoints for chats and messages are in bedrock/inference-endpoints.ts. Source:
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Rerank.html, read 2026-11-21.
import { IsIn, Length, Matches, MaxLength } from 'class-validator';
import { assertNever } from '../../common/assert-never.js';
import { type FieldProblem, invalidField } from '../../common/errors/gateway.error.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS } from '../../common/constants.js';
import { AWS_AUTH_TYPES, type AwsAuthType, type AwsCredentialSource, type AwsOptions } from '../aws/aws-credentials.js';
import { AWS_REGION, awsEndpoint } from '../aws/aws-region.js';
import { areCredentialsRefused } from '../aws/aws-refusal.js';
import { AWS_ROLE_ARN } from '../aws/aws-role-arn.js';
import {
  BEDROCK_DIALECTS,
  BEDROCK_ENDPOINTS,
  type BedrockEndpoint,
  inferenceEndpoint,
  isInferencePath,
  isModelPath,
  signingService,
} from './bedrock/inference-endpoints.js';
import { baseUrl, bearer, buildRequest, joinUrl } from './build-request.js';
import { isS3Request } from './bedrock/s3-file.js';
import { type AwsCredentials, S3, signAwsRequest } from '../aws/aws-signature.js';
import { missingOptions, unusedOptions } from './option-rules.js';
import { Sensitive } from './sensitive.decorator.js';
import { ResourceProviderOptions } from './resource-provider-options.js';
import type { Provider, ProviderRequest } from './provider.types.js';

/** One host calls models, one reranks, one manages jobs. All sign as `bedrock`. The files of jobs are in S3. */
const RUNTIME_HOST = 'bedrock-runtime';
const MODELS_HOST = 'bedrock-agent-runtime';
const CONTROL_HOST = 'bedrock';

const ACCESS_KEY_FIELDS = ['aws_access_key_id', 'aws_secret_access_key'] as const;
/** The options of signing credentials, which a Bedrock API key does not use. */
const AWS_FIELDS = [
  'aws_auth_type',
  'aws_access_key_id',
  'aws_secret_access_key',
  'aws_session_token',
  'aws_role_arn',
  'aws_external_id',
] as const;
const ROLE_FIELDS = ['aws_role_arn', 'aws_external_id'] as const;

export class BedrockOptions extends ResourceProviderOptions implements AwsOptions {
  /** How requests are signed: with a stored access key (default), with a role assumed by it, or with the gateway's own AWS identity. */
  @Optional()
  @IsIn(AWS_AUTH_TYPES)
  readonly aws_auth_type?: AwsAuthType;

  /** Access key id of the IAM user that signs, or that assumes the role. */
  @Optional()
  @Matches(/^\w{16,128}$/, { message: '$property must have 16 to 128 letters, digits and underscores' })
  readonly aws_access_key_id?: string;

  /** Secret access key that belongs to `aws_access_key_id`. */
  @Optional()
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  @MaxLength(256)
  @Sensitive()
  readonly aws_secret_access_key?: string;

  /** Session token, when the stored access key is a temporary one. */
  @Optional()
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  @MaxLength(8_192)
  @Sensitive()
  readonly aws_session_token?: string;

  /** ARN of the role to assume, for `aws_auth_type` assumedRole. */
  @Optional()
  @Matches(AWS_ROLE_ARN, { message: '$property must be the ARN of a role' })
  readonly aws_role_arn?: string;

  /** External id that the role's trust policy asks for. */
  @Optional()
  @Matches(/^[\w+=,.@:/-]+$/, { message: '$property must have letters, digits and the characters _ + = , . @ : / -' })
  @Length(2, 1_224)
  readonly aws_external_id?: string;

  /** Region that models must be in, for example us-east-1; otherwise each model's ARN names its region. */
  @Optional()
  @Matches(AWS_REGION, { message: '$property must be the name of a region, for example us-east-1' })
  readonly aws_region?: string;

  /** Which of Bedrock's endpoints takes chats, responses and messages; default `mantle`. With `converse`, they are translated. */
  @Optional()
  @IsIn(BEDROCK_ENDPOINTS)
  readonly bedrock_endpoint?: BedrockEndpoint;
}

/** Creates the provider with a source of signing credentials, which may be requested from AWS. */
export function createBedrockProvider(
  awsCredentials: Pick<AwsCredentialSource, 'resolve' | 'forget'>,
): Provider<BedrockOptions> {
  return {
    slug: 'bedrock',
    name: 'Amazon Bedrock',
    optionsClass: BedrockOptions,
    key: 'optional',
    checkOptions: (options, key) => [
      ...(key === undefined ? authProblems(options) : unusedOptions(options, AWS_FIELDS, 'with key')),
      ...endpointProblems(options),
    ],
    address(request, credential) {
      const { options } = credential;
      const endpoint = endpointOf(request, options);
      const base = options.base_url === undefined ? endpoint : baseUrl(options);
      return buildRequest(joinUrl(base, request), request, credential.key === undefined ? {} : bearer(credential));
    },
    signer(credential) {
      // A Bedrock API key is sent unchanged.
      if (credential.key !== undefined) return undefined;
      let used: AwsCredentials | undefined;
      return {
        async sign(request, now) {
          const region = credential.options.aws_region ?? regionInHost(request.url);
          used = await awsCredentials.resolve(credential, region);
          const service = isS3Request(request) ? S3 : signingService(credential.options, request.url.pathname);
          return signAwsRequest(request, used, { service, region }, now);
        },
        renew: (answer) =>
          used !== undefined && areCredentialsRefused(answer) && awsCredentials.forget(credential, used),
      };
    },
    dialects: BEDROCK_DIALECTS,
    hidesReasoning: true,
    refusesMaxTokens: true,
    refusesCredential: areCredentialsRefused,
    // AWS checks the signature before the body, so the 400 for an empty body proves that the credentials are valid,
    // free of charge.
    probe: { request: { method: 'POST', path: '/rerank', body: {} }, accepts: [400] },
  };
}

function authProblems(options: BedrockOptions): readonly FieldProblem[] {
  const type = options.aws_auth_type ?? 'accessKey';
  const when = `with aws_auth_type ${type}`;
  switch (type) {
    case 'accessKey':
      return [...missingOptions(options, ACCESS_KEY_FIELDS, when), ...unusedOptions(options, ROLE_FIELDS, when)];
    case 'assumedRole':
      return missingOptions(options, [...ACCESS_KEY_FIELDS, 'aws_role_arn'], when);
    case 'serviceRole':
      return unusedOptions(options, [...ACCESS_KEY_FIELDS, 'aws_session_token', ...ROLE_FIELDS], when);
    default:
      return assertNever(type);
  }
}

/** A custom host name does not contain the region, which the signature needs. */
function endpointProblems(options: BedrockOptions): readonly FieldProblem[] {
  return options.base_url === undefined ? [] : missingOptions(options, ['aws_region'], 'with base_url');
}

function endpointOf(request: ProviderRequest, options: BedrockOptions): URL {
  const region = regionOf(request, options);
  if (request.plane === 'files') return awsEndpoint(S3, region);
  if (isModelPath(request.path)) return awsEndpoint(RUNTIME_HOST, region);
  if (isInferencePath(request.path)) return inferenceEndpoint(options, region);
  return awsEndpoint(request.plane === 'control' ? CONTROL_HOST : MODELS_HOST, region);
}

function regionOf(request: ProviderRequest, options: BedrockOptions): string {
  const { aws_region: own } = options;
  // Models and jobs belong to one region. AWS would refuse the wrong one later, in less clear words.
  if (own !== undefined && request.region !== undefined && own !== request.region) {
    throw invalidField('model', "must be an ARN in the region of the virtual key (its option 'aws_region')");
  }
  const region = own ?? (options.base_url === undefined ? request.region : undefined);
  if (region === undefined)
    throw invalidField('config.aws_region', 'is required where neither a model nor a job names the region');
  return region;
}

/** The region of a host that `endpointOf` built: `<service>.<region>.amazonaws.com`. */
function regionInHost(url: URL): string {
  return url.hostname.split('.')[1] ?? '';
}
