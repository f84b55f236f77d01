import { GatewayError } from '../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../common/json/read.js';

/** At either end of an answer, spaces included. */
const EDGE_BYTES = 256;

/** An answer of success that holds nothing but an error. Its caller never sees it, while another target can answer. */
export function errorInstead(status: number): GatewayError {
  const reason = 'an error instead of an answer';
  return new GatewayError('provider_failed', { reason, provider: { status } });
}

/**
 * Whether an answer or an event holds an error and no output. Some providers send it with the status of a success. Ollama and LM Studio
 * have a text as `error`, and former servers of vLLM `object: "error"`.
 */
export function isErrorAlone({ error, object, choices, output, data, content }: JsonObject): boolean {
  return (isError(error) || object === 'error') && [choices, output, data, content].every((part) => part === undefined);
}

export function isError(error: unknown): boolean {
  return isObject(error) || (typeof error === 'string' && error !== '');
}

const BOM = '\ufeff';
const JSON_ENDS = new Set(['{}', '[]']);

/** Whether a whole answer is not JSON, such as the page of a proxy, or was cut short: no model has written it. */
export function isNoAnswer(body: Buffer): boolean {
  // The ends are enough, and embeddings may have megabytes.
  const first = body.toString('utf8', 0, EDGE_BYTES).replace(BOM, '').trimStart().at(0);
  const last = body
    .toString('latin1', Math.max(0, body.length - EDGE_BYTES))
    .trimEnd()
    .at(-1);
  return first === undefined || last === undefined || !JSON_ENDS.has(first + last);
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
