import { GatewayError } from '../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../common/json/read.js';

/** An answer of success that holds nothing but an error. Its caller never sees it, while another target can answer. */
export function errorInstead(status: number): GatewayError {
  const reason = 'an error instead of an answer';
  return new GatewayError('provider_failed', { reason, provider: { status } });
}

/** The statuses, and the words, of an error that is about the request: every provider would say the same. */
const ABOUT_REQUEST: ReadonlySet<unknown> = new Set([400, 404, 413, 422, '400', '404', '413', '422']);
const INVALID = /invalid_request|invalid_prompt|not_found|too_large|context_length|content_filter/;

/** Whether another target may do better than this error. */
export function isPassable(failure: JsonObject): boolean {
  const { error, response } = failure;
  const said = [failure, error, isObject(response) ? response['error'] : undefined].filter(isObject);
  return !said.some(
    ({ code, status, type }) =>
      ABOUT_REQUEST.has(code) ||
      ABOUT_REQUEST.has(status) ||
      [code, type].some((word) => typeof word === 'string' && INVALID.test(word)),
  );
}
