import { isObject, readArray, readObject, readString } from '../../common/json/read.js';
import { parseProviderJson } from '../../upstream/provider-error.js';
import type { UpstreamAnswer } from '../../upstream/upstream.types.js';
import type { OperationInput, ResourceProvider } from './operation.types.js';
import { type JsonAnswer, readPollAfter } from './relay-reply.js';
import type { RelayRoute } from './relay-route.js';

type Route = Pick<RelayRoute, 'reads' | 'response' | 'deletes'>;

/**
 * The provider's answer, byte for byte unless the provider's answers need mending, or it deleted without a word.
 * @throws UnexpectedShapeError when what was read is not what was asked for; what was made or changed stays so in any case
 */
export function normaliseAnswer(
  provider: Extract<ResourceProvider, { kind: 'relay' }>,
  { reads, response, deletes }: Route,
  { params }: Pick<OperationInput, 'params'>,
  answer: UpstreamAnswer,
): JsonAnswer {
  // The object is gone, so this must not look like a failure.
  if (deletes !== undefined && answer.body.length === 0) {
    return { status: 200, json: { id: params[deletes.idParam], object: deletes.object, deleted: true } };
  }
  const json = parseProviderJson(answer);
  if (reads === 'list') readArray(readObject(json, 'body')['data'], 'body.data');
  if (reads === 'object') readString(readObject(json, 'body')['id'], 'body.id');
  const { normalise } = provider;
  const head = { status: answer.status, pollAfterMs: readPollAfter(answer) };
  if (normalise === undefined || response === undefined) return { ...head, json, bytes: answer.body };
  const body = readObject(json, 'body');
  if (reads !== 'list') return { ...head, json: normalise(body) };
  const items = readArray(body['data'], 'body.data').map((item) => (isObject(item) ? normalise(item) : item));
  return { ...head, json: { ...body, object: 'list', data: items } };
}
