import { isObject, type JsonObject, readArray, readObject, readString } from '../../common/json/read.js';
import { parseProviderJson } from '../../upstream/provider-error.js';
import type { UpstreamAnswer } from '../../upstream/upstream.types.js';
import type { OperationInput, ResourceProvider } from './operation.types.js';
import { type JsonAnswer, readPollAfter } from './relay-reply.js';
import type { RelayRoute } from './relay-route.js';

type Route = Pick<RelayRoute, 'method' | 'operation' | 'response' | 'deletes'>;

/**
 * The provider's answer, byte for byte unless the provider's answers need mending, or it deleted without a word.
 * @throws UnexpectedShapeError when what was read is not what was asked for; what was made or changed stays so in any case
 */
export function normaliseAnswer(
  provider: Extract<ResourceProvider, { kind: 'relay' }>,
  { method, operation, response, deletes }: Route,
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
  const asItCame = { ...head, json, bytes: answer.body };
  if (response === undefined) return asItCame;
  if (operation.endsWith('.list')) {
    const list = readObject(json, 'body');
    const data = readArray(list['data'], 'body.data');
    if (normalise === undefined && hasEnvelope(list)) return asItCame;
    const items = normalise === undefined ? data : data.map((item) => (isObject(item) ? normalise(item) : item));
    // SDKs read on only where they are told that there is more.
    return { ...head, json: { ...list, object: 'list', data: items, has_more: list['has_more'] === true } };
  }
  if (method === 'GET') readString(readObject(json, 'body')['id'], 'body.id');
  return normalise === undefined ? asItCame : { ...head, json: normalise(readObject(json, 'body')) };
}

function hasEnvelope({ object, has_more: hasMore }: JsonObject): boolean {
  return object === 'list' && typeof hasMore === 'boolean';
}
