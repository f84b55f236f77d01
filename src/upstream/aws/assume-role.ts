import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, stringOrUndefined } from '../../common/json/read.js';
import { UpstreamFailure, type UpstreamAnswer, type UpstreamRequest } from '../upstream.types.js';
import { awsEndpoint } from './aws-region.js';
import { awsRequestHandler } from './aws-request-handler.js';
import type { AwsCredentials } from './aws-signature.js';

/** AWS allows these characters in the name of a role session, and 64 of them. */
const NOT_IN_SESSION_NAME = /[^\w+=,.@-]/g;
const MAX_SESSION_NAME_CHARACTERS = 64;
const ERROR_NAME = /^[\w.:]{1,64}$/;

export interface RoleToAssume {
  readonly arn: string;
  /** Agreed with the owner of the role, so that no other customer can make the gateway assume it. */
  readonly externalId: string | undefined;
  /** It is in the session's name, which the role's owner sees in the audit trail. */
  readonly organisationId: string;
}

export interface RoleSession {
  readonly credentials: AwsCredentials;
  readonly expiresAt: Date;
}

export interface StsServices {
  /** Goes through the gateway's own client, and so through its egress rules, limits and retries. */
  readonly send: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
  /** Where STS is, when it is not the region's own. */
  readonly stsEndpoint?: string | undefined;
}

/** A new session, which lasts as long as AWS's default: one hour. Throws `secret_unavailable`. */
export async function assumeRole(
  role: RoleToAssume,
  stored: AwsCredentials,
  region: string,
  { send, stsEndpoint }: StsServices,
): Promise<RoleSession> {
  // Made in any case: it checks the region, which the signature names.
  const regional = awsEndpoint('sts', region).href;
  // Loaded at the first use: most gateways assume no role, and it takes a while.
  const { fromTemporaryCredentials } = await import('@aws-sdk/credential-providers');
  const provide = fromTemporaryCredentials({
    // A copy: the SDK writes into what it gets.
    masterCredentials: { ...stored },
    params: { RoleArn: role.arn, ExternalId: role.externalId, RoleSessionName: sessionName(role.organisationId) },
    clientConfig: {
      region,
      endpoint: stsEndpoint ?? regional,
      requestHandler: awsRequestHandler(send),
      maxAttempts: 1,
    },
  });
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = await provide().catch(toSecretUnavailable);
  if (expiration === undefined || Number.isNaN(expiration.getTime())) throw unknownForm();
  return { credentials: { accessKeyId, secretAccessKey, sessionToken }, expiresAt: expiration };
}

/** For the audit trail of the role's owner. */
export function sessionName(organisationId: string): string {
  return `tollgate-${organisationId}`.replace(NOT_IN_SESSION_NAME, '-').slice(0, MAX_SESSION_NAME_CHARACTERS);
}

/** The SDK's errors never become the cause: they hold the answer. */
function toSecretUnavailable(error: unknown): never {
  if (error instanceof UpstreamFailure) {
    throw new GatewayError('secret_unavailable', { reason: `STS: ${error.kind}`, cause: error });
  }
  if (!isObject(error)) throw new GatewayError('secret_unavailable', { reason: 'STS could not be asked' });
  if (error['$fault'] !== undefined) {
    const name = stringOrUndefined(error['name']) ?? '';
    const metadata = error['$metadata'];
    const status = isObject(metadata) ? String(metadata['httpStatusCode']) : 'unknown';
    const code = ERROR_NAME.test(name) ? name : 'unknown';
    throw new GatewayError('secret_unavailable', {
      reason: `STS refused AssumeRole: status ${status}, code ${code}`,
    });
  }
  if (error['$response'] !== undefined || error['name'] === 'CredentialsProviderError') throw unknownForm();
  throw new GatewayError('secret_unavailable', { reason: 'STS could not be asked' });
}

function unknownForm(): GatewayError {
  return new GatewayError('secret_unavailable', { reason: 'STS answered in an unknown form' });
}
