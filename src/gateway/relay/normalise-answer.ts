import { isObject, readArray, readObject, readString } from '../../common/json/read.js';
import { parseProviderJson } from '../../upstream/provider-error.js';
import type { UpstreamAnswer } from '../../upstream/upstream.types.js';
import type { OperationInput, ResourceProvider } from './operation.types.js';
import { type JsonAnswer, readPollAfter } from './relay-reply.js';
import type { RelayRoute } from './relay-route.js';

/**
 * Returns the provider's response byte for byte, unless its responses need normalising or a deletion had no body.
 * @throws UnexpectedShapeError when a read does not return the requested kind of object; responses to changes are never
 * refused
 */
export function normaliseAnswer(
  provider: Extract<ResourceProvider, { kind: 'relay' }>,
  route: RelayRoute,
  { params }: Pick<OperationInput, 'params'>,
  answer: UpstreamAnswer,
): JsonAnswer {
  // The object is deleted, so this must not look like a failure.
  if (route.kind === 'delete' && answer.body.length === 0) {
    const { idParam, object } = route.deletes;
    return { status: 200, json: { id: params[idParam], object, deleted: true } };
  }
  const json = parseProviderJson(answer);
  const isList = route.kind === 'list' || route.kind === 'items';
  if (isList) readArray(readObject(json, 'body')['data'], 'body.data');
  if (route.kind === 'retrieve') readString(readObject(json, 'body')['id'], 'body.id');
  const { normalise } = provider;
  const head = { status: answer.status, pollAfterMs: readPollAfter(answer) };
  if (normalise === undefined || route.response === undefined) return { ...head, json, bytes: answer.body };
  const body = readObject(json, 'body');
  if (!isList) return { ...head, json: normalise(body) };
  const items = readArray(body['data'], 'body.data').map((item) => (isObject(item) ? normalise(item) : item));
  return { ...head, json: { ...body, object: 'list', data: items } };
}
