import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, parseForeignJson } from '../../common/json/read.js';
import { VISIBLE_ASCII } from '../../common/constants.js';
import { answerToError } from '../provider-error.js';
import { UpstreamFailure, type UpstreamAnswer, type UpstreamRequest } from '../upstream.types.js';

/** A bearer token. `expiresAt` is in Unix milliseconds. */
export interface GoogleToken {
  readonly value: string;
  readonly expiresAt: number;
}

/** Sends a request by the egress rules, with limits on time and size. Rejects with UpstreamFailure. */
export type SendTokenRequest = (request: UpstreamRequest) => Promise<UpstreamAnswer>;

const MAX_TOKEN_CHARACTERS = 16_384;
const SECOND_MS = 1_000;
/** OAuth refuses with 400. IAM refuses with 404 when the service account does not exist. */
const REFUSALS = [400, 404];

/**
 * Sends a request. Returns the JSON object or list of a 200, or else its text.
 * @param secrets the request's secrets, which the answer may repeat
 * @throws GatewayError `provider_credential_rejected` and others, as for an answer of the provider;
 * `secret_unavailable`
 */
export async function askForToken(
  send: SendTokenRequest,
  request: UpstreamRequest,
  secrets: readonly string[],
): Promise<unknown> {
  const { host } = request.url;
  const hint = `The access token comes from ${host}.`;
  const answer = await send(request).catch((cause: unknown) => {
    if (!(cause instanceof UpstreamFailure)) throw cause;
    const reason = `${host}: ${cause.kind}: ${cause.message}`;
    throw new GatewayError('secret_unavailable', { reason, hint, cause });
  });
  if (answer.status === 200) {
    const value = parseForeignJson(answer.body);
    // A URL of a subject token may return the bare token.
    return value === undefined || typeof value !== 'object' ? answer.body.toString('utf8') : value;
  }
  const { code, status, headers, provider, reason } = answerToError(
    answer,
    { slug: host, credentialStatuses: REFUSALS },
    { secrets },
  );
  throw new GatewayError(code, { status, headers, provider, hint, reason: reason ?? host });
}

/**
 * Reads `{"access_token": "…", "expires_in": 3599}`.
 * @throws GatewayError `secret_unavailable`
 */
export function readOauthToken(answer: unknown, host: string, now: number): GoogleToken {
  const { access_token: value, expires_in: seconds } = isObject(answer) ? answer : {};
  if (!isToken(value) || typeof seconds !== 'number' || !(seconds > 0)) throw unknownForm(host);
  return { value, expiresAt: now + seconds * SECOND_MS };
}

/**
 * Reads `{"accessToken": "…", "expireTime": "2026-11-28T12:00:00Z"}`.
 * @throws GatewayError `secret_unavailable`
 */
export function readImpersonatedToken(answer: unknown, host: string): GoogleToken {
  const { accessToken: value, expireTime: time } = isObject(answer) ? answer : {};
  const expiresAt = typeof time === 'string' ? Date.parse(time) : Number.NaN;
  if (!isToken(value) || Number.isNaN(expiresAt)) throw unknownForm(host);
  return { value, expiresAt };
}

function isToken(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_TOKEN_CHARACTERS && VISIBLE_ASCII.test(value);
}

function unknownForm(host: string): GatewayError {
  const reason = `${host} answered in an unknown form`;
  return new GatewayError('secret_unavailable', { reason, hint: `The access token comes from ${host}.` });
}
