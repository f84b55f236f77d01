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
  /** Agreed with the role's owner, so that no other customer can make the gateway assume the role. */
  readonly externalId: string | undefined;
  /** Part of the session's name, which the role's owner sees in the audit trail. */
  readonly organisationId: string;
}

export interface RoleSession {
  readonly credentials: AwsCredentials;
  readonly expiresAt: Date;
}

export interface StsServices {
  /** Sends through the gateway's own client, so its egress rules, limits and retries apply. */
  readonly send: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
  /** The address of STS; absent for the regional one. */
  readonly stsEndpoint?: string | undefined;
}

/** Creates a session with AWS's default lifetime of one hour. Throws `secret_unavailable`. */
export async function assumeRole(
  role: RoleToAssume,
  stored: AwsCredentials,
  region: string,
  { send, stsEndpoint }: StsServices,
): Promise<RoleSession> {
  // Built in any case, since it validates the region, which the signature contains.
  const regional = awsEndpoint('sts', region).href;
  // Loaded lazily: most gateways assume no role, and loading is slow.
  const { fromTemporaryCredentials } = await import('@aws-sdk/credential-providers');
  const provide = fromTemporaryCredentials({
    // A copy, since the SDK modifies its argument.
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

/** The session's name in the audit trail of the role's owner. */
export function sessionName(organisationId: string): string {
  return `tollgate-${organisationId}`.replace(NOT_IN_SESSION_NAME, '-').slice(0, MAX_SESSION_NAME_CHARACTERS);
}

/** Throws `secret_unavailable`. The SDK's errors never become the cause, since they contain the answer. */
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
