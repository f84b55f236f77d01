import { assertNever } from '../common/assert-never.js';
import { DO_NOT_RETRY, GatewayError, type ProviderSaid } from '../common/errors/gateway.error.js';
import { isObject, type JsonObject, parseForeignJson, UnexpectedShapeError } from '../common/json/read.js';
import { wordsForLog } from './log-words.js';
import { type ProviderErrorText, readProviderError, messageIn } from './providers/error-text.js';
import type { Provider } from './providers/provider.types.js';
import { forbidsRetry, readRetryAfter, readRetryAfterMs } from './retry-after.js';
import { UpstreamFailure, type UpstreamAnswer, firstHeader, passedHeaders } from './upstream.types.js';
import { withoutSecrets } from './without-secrets.js';

const MAX_MESSAGE_CHARACTERS = 1_000;
const MAX_PARAM_CHARACTERS = 200;
const BUSY_RETRY_SECONDS = '1';
/** The longest media type, coding, error code and error type that is repeated. */
const MAX_NAME_CHARACTERS = 100;

const INCOMPLETE = 'The provider broke off its answer.';
const NOT_PERMITTED = 'The provider does not permit this call with the credential of the virtual key.';

/** The part of a provider that maps its errors. */
export interface ErrorReader extends Pick<Provider, 'credentialStatuses' | 'refusesCredential'> {
  /** The provider or host that answered, for the log. */
  readonly slug: string;
}

/** Values that a provider may repeat in its errors, and that must be removed. */
export interface Hidden {
  /** Secrets of the credential: removed for clients and for the log. */
  readonly secrets: readonly string[];
  /** The body of the request: removed for the log. */
  readonly sent?: Buffer | undefined;
}

/** The documented error for an answer whose status is not 2xx. */
export function answerToError(
  answer: UpstreamAnswer,
  provider: ErrorReader,
  hidden: Hidden = { secrets: [] },
): GatewayError {
  const { status } = answer;
  const text = readProviderError({ ...answer, body: withoutSecrets(answer.body, hidden.secrets) });
  const said = saidOf(status, text, hidden);
  const reason = reasonOf(provider.slug, said);

  if (status === 401 || status === 403 || provider.credentialStatuses?.includes(status)) {
    const isPermission = status === 403 && provider.refusesCredential?.(answer) !== true;
    return new GatewayError('provider_credential_rejected', {
      // The provider's message is only logged: some repeat the refused key.
      reason: withWords(reason, said),
      provider: said,
      headers: DO_NOT_RETRY,
      ...(isPermission ? { message: NOT_PERMITTED } : {}),
    });
  }
  if (status === 408) return new GatewayError('provider_timeout', { reason, provider: said });
  if (status === 429) {
    return new GatewayError('provider_rate_limited', {
      reason,
      provider: said,
      headers: { ...passedHeaders(answer.headers), ...retryHeaders(answer) },
      ...wordsOf(text),
    });
  }
  if (status >= 500 && status < 600) {
    return new GatewayError('provider_failed', {
      reason: withWords(isForeignPage(answer) ? `${reason} and no JSON, but ${sizeAndType(answer)}` : reason, said),
      provider: { ...said, isForeignPage: isForeignPage(answer) },
      headers: { ...passedHeaders(answer.headers), ...retryHeaders(answer) },
    });
  }
  if (status >= 400 && status < 500) {
    const headers = { ...passedHeaders(answer.headers), ...rangeHeader(answer) };
    return new GatewayError('provider_rejected', { status, reason, provider: said, headers, ...wordsOf(text) });
  }
  return new GatewayError('provider_invalid_response', { reason, provider: said });
}

/**
 * The documented error for a 2xx answer that holds an error instead of a result; undefined when it holds none.
 * @param isSure whether the answer was found unusable. If not, only unmistakable errors count, since the provider may
 * have done the work.
 */
export function errorInAnswer(
  answer: UpstreamAnswer,
  provider: ErrorReader,
  hidden: Hidden,
  isSure: boolean,
): GatewayError | undefined {
  const value = parseForeignJson(answer.body);
  if (!isObject(value) || !mayHoldError(value, isSure)) return undefined;
  const text = readProviderError({ ...answer, body: withoutSecrets(answer.body, hidden.secrets) });
  if (text.message === undefined) return undefined;
  const status = statusIn(value);
  if (status !== undefined) return answerToError({ ...answer, status }, provider, hidden);
  const said = saidOf(answer.status, text, hidden);
  return new GatewayError('provider_failed', {
    reason: `${reasonOf(provider.slug, said)} with an error instead of a result`,
    provider: said,
    headers: DO_NOT_RETRY,
    ...wordsOf(text),
  });
}

/** The documented error for a call without an answer. `caller_gone` is returned unchanged, since no client is left. */
export function failureToError(failure: UpstreamFailure): GatewayError | UpstreamFailure {
  const options = { reason: `${failure.kind}: ${failure.message}`, cause: failure };
  switch (failure.kind) {
    case 'refused_by_egress':
    case 'connect':
    case 'broken':
      return new GatewayError('provider_failed', options);
    case 'incomplete':
      return new GatewayError('provider_invalid_response', { ...options, message: INCOMPLETE });
    case 'interim':
    case 'too_large':
    case 'redirect':
      return new GatewayError('provider_invalid_response', options);
    case 'busy':
      return new GatewayError('provider_busy', { ...options, headers: { 'retry-after': BUSY_RETRY_SECONDS } });
    case 'timeout':
      return new GatewayError('provider_timeout', options);
    case 'caller_gone':
      return failure;
    default:
      return assertNever(failure.kind);
  }
}

/** For `catch`: rethrows a failure as its documented error, and any other error unchanged. */
export function throwAsGatewayError(error: unknown): never {
  throw error instanceof UpstreamFailure ? failureToError(error) : error;
}

/** The documented error for an answer that lacks required fields; any other error unchanged. */
export function shapeToError(error: unknown): unknown {
  if (!(error instanceof UnexpectedShapeError)) return error;
  return new GatewayError('provider_invalid_response', { reason: error.message, cause: error });
}

/**
 * Parses the body of a 2xx answer.
 * @throws GatewayError `provider_invalid_response` when it is not JSON
 */
export function parseProviderJson(answer: UpstreamAnswer): unknown {
  const value = parseForeignJson(answer.body);
  if (value !== undefined) return value;
  throw new GatewayError('provider_invalid_response', {
    reason: `expected JSON, got ${sizeAndType(answer)} (status ${answer.status})`,
  });
}

/**
 * Parses the body of a 2xx answer, and checks that no code in it reports a failure.
 * @throws UnexpectedShapeError when one does; GatewayError `provider_invalid_response` when it is not JSON
 */
export function parseProviderResult(answer: UpstreamAnswer): unknown {
  const value = parseProviderJson(answer);
  if (namesFailure(value)) throw new UnexpectedShapeError('a result', 'body');
  return value;
}

/** Includes the coding, which explains an unreadable answer: only `identity` was accepted. */
function sizeAndType({ headers, body }: UpstreamAnswer): string {
  const type = clean(firstHeader(headers, 'content-type') ?? 'no content-type', MAX_NAME_CHARACTERS);
  const coding = clean(firstHeader(headers, 'content-encoding') ?? '', MAX_NAME_CHARACTERS);
  const isCoded = coding !== '' && coding.toLowerCase() !== 'identity';
  return `${body.length} bytes of ${type}${isCoded ? ` in ${coding}` : ''}`;
}

/** Whether the body is not JSON, such as the page of a proxy in between. */
function isForeignPage({ body }: UpstreamAnswer): boolean {
  return body.length > 0 && parseForeignJson(body) === undefined;
}

function saidOf(
  status: number,
  { message = '', code = '', type = '' }: ProviderErrorText,
  hidden: Hidden,
): ProviderSaid {
  return {
    status,
    code: clean(code, MAX_NAME_CHARACTERS) || undefined,
    type: clean(type, MAX_NAME_CHARACTERS) || undefined,
    words: wordsForLog(message.slice(0, MAX_MESSAGE_CHARACTERS), hidden.secrets, hidden.sent) || undefined,
    isForeignPage: false,
  };
}

/** `openai answered 429 (insufficient_quota)`. */
function reasonOf(slug: string, { status, code, type }: ProviderSaid): string {
  const name = code ?? type;
  return name === undefined ? `${slug} answered ${status}` : `${slug} answered ${status} (${name})`;
}

function withWords(reason: string, { words }: ProviderSaid): string {
  return words === undefined ? reason : `${reason}: ${words}`;
}

/** The length of the file, which a 416 names. */
function rangeHeader({ headers }: UpstreamAnswer): Readonly<Record<string, string>> {
  const range = firstHeader(headers, 'content-range');
  return range !== undefined && /^bytes [\d*/-]{1,64}$/.test(range) ? { 'content-range': range } : {};
}

/** The headers of the provider about a retry: when, or that it is useless. */
function retryHeaders({ headers }: UpstreamAnswer): Readonly<Record<string, string>> {
  const retryAfter = readRetryAfter(headers);
  const milliseconds = readRetryAfterMs(headers);
  return {
    ...(retryAfter === undefined ? {} : { 'Retry-After': retryAfter }),
    ...(milliseconds === undefined ? {} : { 'retry-after-ms': String(milliseconds) }),
    ...(forbidsRetry(headers) ? DO_NOT_RETRY : {}),
  };
}

/** The provider's message and parameter, if it names them. */
function wordsOf(text: ProviderErrorText): { readonly message?: string; readonly param?: string } {
  const message = clean(text.message ?? '', MAX_MESSAGE_CHARACTERS);
  const param = clean(text.param ?? '', MAX_PARAM_CHARACTERS);
  return { ...(message === '' ? {} : { message }), ...(param === '' ? {} : { param }) };
}

/** Whether the message of an answer belongs to an error, and not to a result. */
function mayHoldError(value: JsonObject, isSure: boolean): boolean {
  if (namesFailure(value)) return true;
  if (Array.isArray(value['results']) || Array.isArray(value['data'])) return false;
  return isSure ? isErrorForm(value) || !namesSuccess(value) : typeof value['id'] !== 'string' && isErrorForm(value);
}

/** Whether an object is unmistakably an error. */
function isErrorForm(value: JsonObject): boolean {
  const { error, errors, detail, object, type, success, status } = value;
  if (typeof error === 'string' || isObject(error) || (Array.isArray(errors) && errors.length > 0)) return true;
  if (detail !== undefined || object === 'error' || type === 'error' || success === false) return true;
  return status === 'error' || status === 'failure' || status === 'failed';
}

/** The status that an error names in its body: `{"error": {"code": 429}}`. */
function statusIn(value: JsonObject): number | undefined {
  const { error, base_resp: outcome } = value;
  for (const { code, status, status_code, statusCode } of [error, outcome, value].filter(isObject)) {
    for (const given of [status, status_code, statusCode, code]) {
      const number = typeof given === 'string' ? Number(given) : given;
      if (typeof number === 'number' && Number.isInteger(number) && number >= 400 && number <= 599) return number;
    }
  }
  return undefined;
}

/** Cleans foreign text for an error body or a log line: bounded, without control characters and lone surrogates. */
function clean(text: string, maxCharacters: number): string {
  return text
    .slice(0, maxCharacters)
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\p{Cs}/gu, '')
    .trim();
}

/** Fields with a code of success or failure, beside a message. */
const CODES = ['code', 'error_code', 'errcode'] as const;
const SUCCESS = /^(?:ok|success|succeeded|successful)[.!]?$/i;

/**
 * Whether a code in an answer reports a failure: `{"base_resp": {"status_code": 1004, "status_msg": "…"}}` (MiniMax),
 * `{"code": 1001, "msg": "…"}`, `{"error_code": 17, "error_msg": "…"}`. Objects with an id may have a code too, and
 * results take precedence over a code: neither is a failure.
 */
export function namesFailure(answer: unknown): boolean {
  if (!isObject(answer) || hasItems(answer['results']) || hasItems(answer['data'])) return false;
  const { base_resp: outcome, id, success, status } = answer;
  if (isObject(outcome) && isFailureCode(outcome['status_code'])) return true;
  if (typeof id === 'string' || success === true || status === true) return false;
  const message = messageIn(answer);
  return message !== undefined && !SUCCESS.test(message) && CODES.some((name) => isFailureCode(answer[name]));
}

/** Whether a code in an answer reports success. Then missing fields are not an error of the provider. */
export function namesSuccess(answer: JsonObject): boolean {
  const { base_resp: outcome } = answer;
  const codes = isObject(outcome) ? [outcome['status_code']] : CODES.map((name) => answer[name]);
  return codes.some(isSuccessCode) && !codes.some(isFailureCode);
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function isSuccessCode(code: unknown): boolean {
  return (typeof code === 'number' || typeof code === 'string') && code !== '' && !isFailureCode(code);
}

/** 0, a 2xx status and words such as `ok` are a success. */
function isFailureCode(code: unknown): boolean {
  if (typeof code === 'number') return code !== 0 && !(code >= 200 && code <= 299);
  if (typeof code !== 'string' || code === '') return false;
  const number = Number(code);
  return Number.isNaN(number) ? !SUCCESS.test(code) : isFailureCode(number);
}
