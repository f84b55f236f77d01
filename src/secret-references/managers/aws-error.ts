// Errors of AWS, known by name: the status is 400 for most of them. Sources, read 2026-11-21:
// https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html (and CommonErrors.html there),
// https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html (and CommonErrors.html there).
import { isObject, stringOrUndefined } from '../../common/json/read.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { AwsIdentityError } from '../../upstream/aws/aws-own-identity.js';
import { REFUSED_CREDENTIALS } from '../../upstream/aws/aws-refusal.js';
import { scrub } from '../../common/scrub.js';
import { SecretError, type SecretErrorCode, TRANSPORT_CODES } from './secret-manager.types.js';

/** Without the suffix `Exception`, which the same error has in one protocol and not in the other. */
const CODES: ReadonlyMap<string, SecretErrorCode> = new Map([
  ...named('not_found', 'ResourceNotFound'),
  ...named(
    'access_denied',
    'AccessDenied',
    'NotAuthorized',
    'OptInRequired',
    'RegionDisabled',
    'UnauthorizedOperation',
  ),
  ...named('authentication_failed', ...REFUSED_CREDENTIALS),
  ...named('authentication_failed', 'AuthFailure', 'IncompleteSignature', 'MissingAuthenticationToken', 'NotSignedUp'),
  ...named('authentication_failed', 'RequestExpired', 'RequestInTheFuture', 'RequestTimeTooSkewed'),
  ...named('authentication_failed', 'IDPCommunicationError', 'IDPRejectedClaim', 'InvalidIdentityToken'),
  ...named('decryption_failed', 'DecryptionFailure'),
  ...named('throttled', 'Throttled', 'Throttling', 'RequestThrottled', 'TooManyRequests', 'SlowDown'),
  ...named('throttled', 'LimitExceeded', 'RequestLimitExceeded', 'BandwidthLimitExceeded', 'PriorRequestNotComplete'),
  ...named('timeout', 'RequestTimeout'),
  ...named('invalid_request', 'InvalidRequest', 'InvalidParameter', 'InvalidParameterCombination', 'InvalidAction'),
  ...named('invalid_request', 'InvalidParameterValue', 'InvalidQueryParameter', 'MissingAction', 'MissingParameter'),
  ...named('invalid_request', 'MalformedHttpRequest', 'MalformedPolicyDocument', 'MalformedQueryString'),
  ...named('invalid_request', 'PackedPolicyTooLarge', 'RequestEntityTooLarge', 'Serialization', 'UnknownOperation'),
  ...named('invalid_request', 'Validation', 'ValidationError'),
  ...named('manager_failed', 'InternalError', 'InternalFailure', 'InternalServerError', 'InternalServiceError'),
  ...named('manager_failed', 'ServiceUnavailable'),
  // What the SDK calls an error that has no name: the sender was not AWS.
  ...named('invalid_response', 'Unknown', 'UnknownError'),
]);

/** AWS has no error of its own for it. "…because it was marked for deletion", "…that's currently marked deleted". */
const ABOUT_DELETION = /\bdelet(?:ed|ion)\b/i;

/** What an error of the SDK, of its credential providers or of the transport means. `secrets`: what to keep out of the log. */
export function toSecretError(error: unknown, secrets: readonly string[]): SecretError {
  if (error instanceof SecretError) return error;
  if (error instanceof UpstreamFailure) {
    return new SecretError(TRANSPORT_CODES[error.kind], scrub(error.message, secrets), { cause: error });
  }
  if (error instanceof AwsIdentityError) {
    const code = error.problem === 'missing' ? 'authentication_failed' : 'timeout';
    return new SecretError(code, error.message, { cause: error });
  }
  if (!isObject(error)) return new SecretError('manager_failed', 'the AWS SDK failed without an error');
  const name = stringOrUndefined(error['name']) ?? 'Error';
  // The SDK's errors never become the cause: they hold the answer, and the answer may hold the secret.
  if (error['$fault'] !== undefined) return new SecretError(codeOf(name, error), scrub(wordsOf(name, error), secrets));
  // Nor its message: the JSON parser's quotes the text.
  if (error['$response'] !== undefined) return new SecretError('invalid_response', 'AWS answered in an unknown form');
  // The gateway's own identity explains itself, so this one is about a role: STS agreed, and gave no session.
  if (name === 'CredentialsProviderError') return new SecretError('invalid_response', 'STS gave no role session');
  return new SecretError('manager_failed', scrub(`${name} in the AWS SDK`, secrets), { cause: error });
}

function codeOf(name: string, { message }: Readonly<Record<string, unknown>>): SecretErrorCode {
  const code = CODES.get(name.replace(/Exception$/, '')) ?? 'manager_failed';
  const isDeleted = code === 'invalid_request' && ABOUT_DELETION.test(stringOrUndefined(message) ?? '');
  return isDeleted ? 'deleted' : code;
}

function wordsOf(name: string, error: Readonly<Record<string, unknown>>): string {
  const metadata = error['$metadata'];
  const request = isObject(metadata) ? stringOrUndefined(metadata['requestId']) : undefined;
  const message = stringOrUndefined(error['message']) ?? '';
  return request === undefined ? `${name}: ${message}` : `${name} (request ${request}): ${message}`;
}

function named(code: SecretErrorCode, ...names: readonly string[]): readonly [string, SecretErrorCode][] {
  return names.map((name) => [name, code]);
}
