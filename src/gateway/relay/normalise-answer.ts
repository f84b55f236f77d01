import { isObject, readArray, readObject, readString } from '../../common/json/read.js';
import { parseProviderJson } from '../../upstream/provider-error.js';
import type { UpstreamAnswer } from '../../upstream/upstream.types.js';
import type { OperationInput, ResourceProvider } from './operation.types.js';
import { type JsonAnswer, readPollAfter } from './relay-reply.js';
import type { RelayRoute } from './relay-route.js';

type Route = Pick<RelayRoute, 'reads' | 'response' | 'deletes'>;

/**
 * Returns the provider's response byte for byte, unless its responses need normalising or a deletion had no body.
 * @throws UnexpectedShapeError when a read does not return the requested kind of object; responses to changes are never
 * refused
 */
export function normaliseAnswer(
  provider: Extract<ResourceProvider, { kind: 'relay' }>,
  { reads, response, deletes }: Route,
  { params }: Pick<OperationInput, 'params'>,
  answer: UpstreamAnswer,
): JsonAnswer {
  // The object is deleted, so this must not look like a failure.
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
