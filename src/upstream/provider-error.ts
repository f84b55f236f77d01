import { assertNever } from '../common/assert-never.js';
import { DO_NOT_RETRY, GatewayError, type GatewayErrorOptions } from '../common/errors/gateway.error.js';
import { parseForeignJson, UnexpectedShapeError } from '../common/json/read.js';
import { forbidsRetry, readRetryAfter, readRetryAfterMs } from './retry-after.js';
import { UpstreamFailure, type UpstreamAnswer, firstHeader } from './upstream.types.js';
import type { Provider, ProviderErrorText } from './providers/provider.types.js';

const MAX_MESSAGE_CHARACTERS = 1_000;
const MAX_PARAM_CHARACTERS = 200;
const BUSY_RETRY_SECONDS = '1';
/** Of a media type, of a coding. */
const MAX_NAME_CHARACTERS = 100;

/** The part of a provider that maps its errors. */
export type ErrorReader = Pick<Provider, 'slug' | 'credentialStatuses' | 'readError'>;

/** The documented error for an answer whose status is not 2xx. */
export function answerToError(answer: UpstreamAnswer, provider: ErrorReader): GatewayError {
  const { status } = answer;
  const reason = `${provider.slug} answered ${status}`;

  if (status === 401 || status === 403 || provider.credentialStatuses?.includes(status)) {
    // The provider's words stay out: some repeat the key that they refuse.
    return new GatewayError('provider_credential_rejected', { reason, headers: DO_NOT_RETRY });
  }
  if (status === 408) return new GatewayError('provider_timeout', { reason });
  if (status === 429) return rateLimited(answer, provider, reason);
  if (status >= 500 && status < 600) return failed(answer, reason);
  if (status >= 400 && status < 500) return rejected(answer, provider, reason);
  return new GatewayError('provider_invalid_response', { reason });
}

/** The documented error for a call without an answer. `caller_gone` is returned unchanged: no caller is left to read an error. */
export function failureToError(failure: UpstreamFailure): GatewayError | UpstreamFailure {
  const options = { reason: `${failure.kind}: ${failure.message}`, cause: failure };
  switch (failure.kind) {
    case 'refused_by_egress':
    case 'connect':
    case 'broken':
      return new GatewayError('provider_failed', options);
    case 'incomplete':
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

/** For `catch`: rethrows a failure as its documented error, anything else as it is. */
export function throwAsGatewayError(error: unknown): never {
  throw error instanceof UpstreamFailure ? failureToError(error) : error;
}

/** The documented error for an answer that lacks what it has to hold; any other error as it is. */
export function shapeToError(error: unknown): unknown {
  if (!(error instanceof UnexpectedShapeError)) return error;
  return new GatewayError('provider_invalid_response', { reason: error.message, cause: error });
}

/** The body of a 2xx answer. Throws `provider_invalid_response` when it is not JSON. */
export function parseProviderJson(answer: UpstreamAnswer): unknown {
  const value = parseForeignJson(answer.body);
  if (value !== undefined) return value;
  throw new GatewayError('provider_invalid_response', {
    reason: `expected JSON, got ${sizeAndType(answer)} (status ${answer.status})`,
  });
}

/** With the coding, which explains why nothing could be read: none was accepted (`accept-encoding: identity`). */
function sizeAndType({ headers, body }: UpstreamAnswer): string {
  const type = clean(firstHeader(headers, 'content-type') ?? 'no content-type', MAX_NAME_CHARACTERS);
  const coding = clean(firstHeader(headers, 'content-encoding') ?? '', MAX_NAME_CHARACTERS);
  const isCoded = coding !== '' && coding.toLowerCase() !== 'identity';
  return `${body.length} bytes of ${type}${isCoded ? ` in ${coding}` : ''}`;
}

function rateLimited(answer: UpstreamAnswer, provider: ErrorReader, reason: string): GatewayError {
  return new GatewayError('provider_rate_limited', {
    reason,
    headers: retryHeaders(answer),
    ...wordsOf(answer, provider),
  });
}

function failed(answer: UpstreamAnswer, reason: string): GatewayError {
  const { body } = answer;
  const headers = retryHeaders(answer);
  // A page of some proxy in between: the provider itself has said nothing.
  const foreign = body.length > 0 && parseForeignJson(body) === undefined;
  return foreign
    ? new GatewayError('provider_invalid_response', {
        reason: `${reason} and no JSON, but ${sizeAndType(answer)}`,
        headers,
      })
    : new GatewayError('provider_failed', { reason, headers });
}

function rejected(answer: UpstreamAnswer, provider: ErrorReader, reason: string): GatewayError {
  return new GatewayError('provider_rejected', { status: answer.status, reason, ...wordsOf(answer, provider) });
}

/** What the provider says of another try: when, or that it is of no use. */
function retryHeaders({ headers }: UpstreamAnswer): Readonly<Record<string, string>> {
  const retryAfter = readRetryAfter(headers);
  const milliseconds = readRetryAfterMs(headers);
  return {
    ...(retryAfter === undefined ? {} : { 'Retry-After': retryAfter }),
    ...(milliseconds === undefined ? {} : { 'retry-after-ms': String(milliseconds) }),
    ...(forbidsRetry(headers) ? DO_NOT_RETRY : {}),
  };
}

/** Message and parameter in the provider's own words; what it does not say is left out. */
function wordsOf({ body }: UpstreamAnswer, provider: ErrorReader): Pick<GatewayErrorOptions, 'message' | 'param'> {
  const text = readErrorText(body, provider);
  const message = clean(text?.message ?? '', MAX_MESSAGE_CHARACTERS);
  const param = clean(text?.param ?? '', MAX_PARAM_CHARACTERS);
  return { ...(message === '' ? {} : { message }), ...(param === '' ? {} : { param }) };
}

function readErrorText(body: Buffer, provider: ErrorReader): ProviderErrorText | undefined {
  const value = parseForeignJson(body);
  return value === undefined ? undefined : provider.readError(value);
}

/** Foreign text made fit for an error body and a log line: no control characters, bounded, no half of a surrogate pair. */
function clean(text: string, maxCharacters: number): string {
  return text
    .slice(0, maxCharacters)
    .replace(/\p{Cc}+/gu, ' ')
    .replace(/\p{Cs}/gu, '')
    .trim();
}
