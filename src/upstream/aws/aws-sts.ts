// AWS STS AssumeRole, Query API. Source: https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html, read 2026-11-21.
import { isObject, readObject, readString, UnexpectedShapeError } from '../../common/json/read.js';
import type { UpstreamRequest } from '../upstream.types.js';
import { awsEndpoint } from './aws-region.js';
import type { AwsCredentials } from './aws-signature.js';

interface RoleToAssume {
  readonly arn: string;
  /** Agreed with the owner of the role, so that nobody else can have the gateway assume it. */
  readonly externalId: string | undefined;
  /** Shown in the role owner's audit trail. */
  readonly sessionName: string;
}

export interface RoleSession {
  readonly credentials: AwsCredentials;
  readonly expiresAt: Date;
}

/**
 * The unsigned request. The session lasts as long as AWS's default, one hour.
 * @param endpoint where STS is, when it is not the region's own
 */
export function assumeRoleRequest(role: RoleToAssume, region: string, endpoint: string | undefined): UpstreamRequest {
  // Made in any case: it checks the region, which the signature names.
  const regional = awsEndpoint('sts', region);
  const form = new URLSearchParams({
    Action: 'AssumeRole',
    Version: '2011-06-15',
    RoleArn: role.arn,
    // AWS allows these characters and 64 of them.
    RoleSessionName: role.sessionName.replace(/[^\w+=,.@-]/g, '-').slice(0, 64),
  });
  if (role.externalId !== undefined) form.set('ExternalId', role.externalId);
  return {
    method: 'POST',
    url: endpoint === undefined ? regional : new URL(endpoint),
    headers: {
      // STS answers XML unless asked for JSON.
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded; charset=utf-8',
      'user-agent': 'tollgate',
    },
    body: Buffer.from(form.toString(), 'utf8'),
  };
}

/** Throws UnexpectedShapeError; its message says where, never what. */
export function readAssumeRole(answer: unknown): RoleSession {
  const response = readObject(readObject(answer, 'body')['AssumeRoleResponse'], 'body.AssumeRoleResponse');
  const path = 'body.AssumeRoleResponse.AssumeRoleResult';
  const found = readObject(readObject(response['AssumeRoleResult'], path)['Credentials'], `${path}.Credentials`);
  return {
    credentials: {
      accessKeyId: readString(found['AccessKeyId'], `${path}.Credentials.AccessKeyId`),
      secretAccessKey: readString(found['SecretAccessKey'], `${path}.Credentials.SecretAccessKey`),
      sessionToken: readString(found['SessionToken'], `${path}.Credentials.SessionToken`),
    },
    expiresAt: readExpiration(found['Expiration'], `${path}.Credentials.Expiration`),
  };
}

/** AWS's code for a refusal, e.g. `AccessDenied`; the message stays out, since it quotes the request. */
export function readStsErrorCode(answer: unknown): string {
  const error = isObject(answer) ? answer['Error'] : undefined;
  const code = isObject(error) ? error['Code'] : undefined;
  return typeof code === 'string' && /^[\w.:]{1,64}$/.test(code) ? code : 'unknown';
}

/** Unix seconds in JSON answers; ISO 8601 in answers that were translated from XML. */
function readExpiration(value: unknown, path: string): Date {
  const date = new Date(typeof value === 'number' ? value * 1_000 : typeof value === 'string' ? value : Number.NaN);
  if (Number.isNaN(date.getTime())) throw new UnexpectedShapeError('a time', path);
  return date;
}
