import { GatewayError } from '../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../common/json/read.js';

/** The number of bytes that are read at either end of an answer, including white space. */
const EDGE_BYTES = 256;

/**
 * The error for a 2xx answer that holds nothing but an error. The client never sees it while another target can answer.
 */
export function errorInstead(status: number): GatewayError {
  const reason = 'an error instead of an answer';
  return new GatewayError('provider_failed', { reason, provider: { status } });
}

/**
 * Whether an answer or an event contains an error and no output. Some providers send it with a status of success.
 * Ollama and LM Studio send a string as `error`, and older vLLM servers `object: "error"`.
 */
export function isErrorAlone({ error, object, choices, output, data, content }: JsonObject): boolean {
  return (isError(error) || object === 'error') && [choices, output, data, content].every((part) => part === undefined);
}

export function isError(error: unknown): boolean {
  return isObject(error) || (typeof error === 'string' && error !== '');
}

const BOM = '\ufeff';
const JSON_ENDS = new Set(['{}', '[]']);

/** Whether a whole answer is not JSON, such as a proxy's page, or was cut short. */
export function isNoAnswer(body: Buffer): boolean {
  // Only both ends are read, since embeddings may be megabytes long.
  const first = body.toString('utf8', 0, EDGE_BYTES).replace(BOM, '').trimStart().at(0);
  const last = body
    .toString('latin1', Math.max(0, body.length - EDGE_BYTES))
    .trimEnd()
    .at(-1);
  return first === undefined || last === undefined || !JSON_ENDS.has(first + last);
}

/** The statuses and types of errors about the request, which every provider would return. */
const ABOUT_REQUEST: ReadonlySet<unknown> = new Set([400, 404, 413, 422, '400', '404', '413', '422']);
const INVALID = /invalid_request|invalid_prompt|not_found|too_large|context_length|content_filter/;

/** Whether another target may succeed after this error. */
export function mayFailOver(failure: JsonObject): boolean {
  const { error, response } = failure;
  const said = [failure, error, isObject(response) ? response['error'] : undefined].filter(isObject);
  return !said.some(
    ({ code, status, type }) =>
      ABOUT_REQUEST.has(code) ||
      ABOUT_REQUEST.has(status) ||
      [code, type].some((word) => typeof word === 'string' && INVALID.test(word)),
  );
}
