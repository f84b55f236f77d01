// What Azure's refusals mean. Sources: https://learn.microsoft.com/azure/key-vault/general/rest-error-codes and
// https://learn.microsoft.com/entra/identity-platform/reference-error-codes, read 2026-11-21.
import { isObject, type JsonObject, parseForeignJson, stringOrUndefined } from '../../common/json/read.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import type { AzureAnswer } from './azure-http-client.js';
import { scrub } from '../../common/scrub.js';
import { SecretError, type SecretErrorCode, TRANSPORT_CODES } from './secret-manager.types.js';

/** Codes inside of a 403 that speak of the secret and not of the caller. */
const UNUSABLE_SECRET = new Set(['SecretDisabled', 'SecretExpired', 'SecretNotYetValid']);

/** How the SDK begins when it does not trust a challenge. */
const DISTRUST = 'The challenge ';

/** What came of one call to a vault. `answer` is the vault's last one. */
export function toVaultError(error: unknown, answer: AzureAnswer | undefined, secrets: readonly string[]): SecretError {
  if (error instanceof SecretError) return error;
  if (error instanceof UpstreamFailure) return toTransportError(error, secrets);
  if (answer !== undefined) return fromVaultAnswer(answer, secrets);
  const message = messageOf(error);
  return new SecretError(message.startsWith(DISTRUST) ? 'invalid_response' : 'manager_failed', scrub(message, secrets));
}

/** Why there is no token. `answer` and `failure` are the last of the token endpoint. */
export function toTokenError(
  error: unknown,
  { answer, failure }: { readonly answer?: AzureAnswer | undefined; readonly failure?: UpstreamFailure | undefined },
  secrets: readonly string[],
): SecretError {
  if (error instanceof SecretError) return error;
  if (failure !== undefined) return toTransportError(failure, secrets);
  const detail = `no token: ${messageOf(error)}`;
  const code = answer === undefined ? ownIdentityCode(error) : tokenCode(answer);
  return new SecretError(code, scrub(detail, secrets));
}

function fromVaultAnswer({ status, text }: AzureAnswer, secrets: readonly string[]): SecretError {
  const { code, inner, message } = readVaultError(text);
  // The body of a 200 is a secret, or was meant to be one: nothing of it is shown.
  if (status === 200) return new SecretError('invalid_response', 'the vault answered 200 without a secret');
  const codes = [code, inner].filter((part) => part !== undefined).join('/') || 'no code';
  return new SecretError(
    vaultCode(status, code, inner),
    scrub(`the vault answered ${status} (${codes}): ${message}`, secrets),
  );
}

function vaultCode(status: number, code: string | undefined, inner: string | undefined): SecretErrorCode {
  if (status >= 500) return 'manager_failed';
  switch (status) {
    case 400:
      return 'invalid_request';
    case 401:
      return 'authentication_failed';
    case 403:
      return inner !== undefined && UNUSABLE_SECRET.has(inner) ? 'disabled' : 'access_denied';
    case 404:
      // Without a code the answer is not from a vault: the secret may well be there.
      return code === undefined ? 'invalid_response' : 'not_found';
    case 429:
      return 'throttled';
    default:
      return 'invalid_response';
  }
}

function tokenCode({ status, text }: AzureAnswer): SecretErrorCode {
  if (status === 429) return 'throttled';
  if (status >= 500) return 'manager_failed';
  const error = stringOrUndefined(parseObject(text)['error']);
  if (status < 400 || error === undefined) return 'invalid_response';
  return error === 'temporarily_unavailable' ? 'manager_failed' : 'authentication_failed';
}

/** The SDK asks the machine for a managed identity by itself, so that only its error is known. */
function ownIdentityCode(error: unknown): SecretErrorCode {
  const causes = [error, ...(isObject(error) && Array.isArray(error['errors']) ? error['errors'] : [])];
  return causes.some(isUnreachable) ? 'unreachable' : 'authentication_failed';
}

function isUnreachable(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return isObject(cause) && cause['errorCode'] === 'network_error';
}

function toTransportError(failure: UpstreamFailure, secrets: readonly string[]): SecretError {
  return new SecretError(TRANSPORT_CODES[failure.kind], scrub(failure.message, secrets), { cause: failure });
}

function readVaultError(text: string): { code: string | undefined; inner: string | undefined; message: string } {
  const { error } = parseObject(text);
  if (!isObject(error)) return { code: undefined, inner: undefined, message: 'no message' };
  const inner = isObject(error['innererror']) ? stringOrUndefined(error['innererror']['code']) : undefined;
  return {
    code: stringOrUndefined(error['code']),
    inner,
    message: stringOrUndefined(error['message']) ?? 'no message',
  };
}

/** An empty object when the text is not an object in JSON. */
function parseObject(text: string): JsonObject {
  const value = parseForeignJson(text);
  return isObject(value) ? value : {};
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'no reason given';
}
