import { readFile, stat } from 'node:fs/promises';
import { errorCodeOf } from '../../common/errors/describe-error.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, parseForeignJson } from '../../common/json/read.js';
import { awsEndpoint } from '../aws/aws-region.js';
import { type AwsCredentials, signAwsRequest } from '../aws/aws-signature.js';
import type { ExternalAccount, SubjectTokenSource } from './google-credentials.js';
import { askForToken, type SendTokenRequest } from './token-answer.js';

const MAX_FILE_BYTES = 64 * 1024;
/**
 * Sessions of all AWS regions are valid there, except for China and governments, whose partitions Google does not
 * support.
 */
const AWS_REGION = 'us-east-1';

export interface SubjectTokenServices {
  readonly send: SendTokenRequest;
  /** The gateway's AWS identity, for an organisation that may use it. */
  readonly awsIdentity: (organisationId: string, region: string) => Promise<AwsCredentials>;
  /** The files that credentials may name. */
  readonly files: readonly string[];
}

/** Whether a source belongs to the gateway's machine, so that the token is the gateway's own. */
export function isOfMachine(source: SubjectTokenSource): boolean {
  // Metadata servers use plain http.
  return source.kind !== 'url' || source.url.protocol === 'http:';
}

/**
 * Reads the token of the external identity provider.
 * @throws GatewayError `secret_unavailable`, `permission_denied`
 */
export async function subjectTokenOf(
  { source, audience }: ExternalAccount,
  organisationId: string,
  services: SubjectTokenServices,
  now: Date,
): Promise<string> {
  switch (source.kind) {
    case 'file':
      return tokenIn(parsed(await fileText(source.path, services.files)), source.field, 'credential_source.file');
    case 'url': {
      const { url, headers, field } = source;
      const answer = await askForToken(services.send, { method: 'GET', url, headers }, Object.values(headers));
      return tokenIn(answer, field, 'credential_source.url');
    }
    case 'aws':
      return signedIdentity(await services.awsIdentity(organisationId, AWS_REGION), audience, now);
  }
}

async function fileText(path: string, files: readonly string[]): Promise<string> {
  if (!files.includes(path)) {
    throw new GatewayError('permission_denied', {
      message: 'The credential of this virtual key names a file that it may not read.',
      reason: 'credential_source.file is not in GOOGLE_SUBJECT_TOKEN_FILES',
    });
  }
  try {
    const { size } = await stat(path);
    if (size <= MAX_FILE_BYTES) return await readFile(path, 'utf8');
  } catch (cause) {
    throw noSubjectToken(`credential_source.file cannot be read: ${errorCodeOf(cause) ?? 'unknown'}`, cause);
  }
  throw noSubjectToken(`credential_source.file has more than ${MAX_FILE_BYTES} bytes`);
}

function parsed(text: string): unknown {
  return parseForeignJson(text) ?? text;
}

function tokenIn(value: unknown, field: string | undefined, place: string): string {
  const found = field === undefined ? value : isObject(value) ? value[field] : undefined;
  const token = typeof found === 'string' ? found.trim() : '';
  if (token === '') throw noSubjectToken(`there is no token at ${place}`);
  return token;
}

/** A signed GetCallerIdentity request as a token. Google sends it to AWS, and trusts the answer. */
async function signedIdentity(credentials: AwsCredentials, audience: string, now: Date): Promise<string> {
  const url = awsEndpoint('sts', AWS_REGION);
  url.search = '?Action=GetCallerIdentity&Version=2011-06-15';
  const question = { method: 'POST', url, headers: { 'x-goog-cloud-target-resource': audience } } as const;
  const scope = { service: 'sts', region: AWS_REGION, isWithoutChecksum: true };
  const { headers } = await signAwsRequest(question, credentials, scope, now);
  const pairs = Object.entries({ ...headers, host: url.host }).map(([key, value]) => ({ key, value }));
  return encodeURIComponent(JSON.stringify({ url: url.href, method: question.method, headers: pairs }));
}

function noSubjectToken(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('secret_unavailable', { reason, hint: `No token to exchange: ${reason}.`, cause });
}
