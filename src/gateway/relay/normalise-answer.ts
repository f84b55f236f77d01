import { isObject, readObject } from '../../common/json/read.js';
import { parseProviderJson } from '../../upstream/provider-error.js';
import type { UpstreamAnswer } from '../../upstream/upstream.types.js';
import type { OperationInput, ResourceProvider } from './operation.types.js';
import { type JsonAnswer, readPollAfter } from './relay-reply.js';
import type { RelayRoute } from './relay-route.js';

/** The provider's answer, byte for byte unless the provider's answers need mending, or it deleted without a word. */
export function normaliseAnswer(
  provider: Extract<ResourceProvider, { kind: 'relay' }>,
  { response, deletes }: Pick<RelayRoute, 'response' | 'deletes'>,
  { params }: Pick<OperationInput, 'params'>,
  answer: UpstreamAnswer,
): JsonAnswer {
  // The object is gone, so this must not look like a failure.
  if (deletes !== undefined && answer.body.length === 0) {
    return { status: 200, json: { id: params[deletes.idParam], object: deletes.object, deleted: true } };
  }
  const json = parseProviderJson(answer);
  const { normalise } = provider;
  const head = { status: answer.status, pollAfterMs: readPollAfter(answer) };
  if (normalise === undefined || response === undefined) return { ...head, json, bytes: answer.body };
  const body = readObject(json, 'body');
  const { data } = body;
  if (body['object'] !== 'list' && !Array.isArray(data)) return { ...head, json: normalise(body) };
  const items = Array.isArray(data) ? data.map((item: unknown) => (isObject(item) ? normalise(item) : item)) : [];
  return { ...head, json: { ...body, data: items } };
}
