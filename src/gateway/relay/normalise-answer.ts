import { hasLongNumbers, parseLongNumbers, stringifyLongNumbers } from '../../common/json/numbers.js';
import { isObject, type JsonObject, readArray, readObject, readString } from '../../common/json/read.js';
import { parseProviderResult } from '../../upstream/provider-error.js';
import type { UpstreamAnswer } from '../../upstream/upstream.types.js';
import { withEnvelope } from './list-envelope.js';
import type { OperationInput, ResourceProvider } from './operation.types.js';
import type { JsonAnswer } from './relay-reply.js';
import type { RelayRoute } from './relay-route.js';

/** What was asked for, as text. */
interface AskedPage extends Pick<OperationInput, 'params'> {
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

const BYTE_ORDER_MARK = Buffer.from('\uFEFF');

/**
 * Returns the provider's response byte for byte, unless required fields are missing, its responses need normalising, or a
 * deletion had no body.
 * @throws UnexpectedShapeError when a read does not return the requested kind of object; responses to changes are never
 * refused
 */
export function normaliseAnswer(
  provider: Extract<ResourceProvider, { kind: 'relay' }>,
  route: RelayRoute,
  { params, after, before }: AskedPage,
  answer: UpstreamAnswer,
): JsonAnswer {
  // The object is deleted, so this must not look like a failure.
  if (route.kind === 'delete' && answer.body.length === 0) {
    const { idParam, object } = route.deletes;
    return { status: 200, json: { id: params[idParam], object, deleted: true } };
  }
  const json = parseProviderResult(answer);
  const isList = route.kind === 'list' || route.kind === 'items';
  if (isList) readArray(readObject(json, 'body')['data'], 'body.data');
  if (route.kind === 'retrieve') readString(readObject(json, 'body')['id'], 'body.id');
  const { status } = answer;
  const normalise = route.response === undefined ? undefined : provider.normalise;
  const needsIds = isList && route.needsIds === true;
  const page = { after, before, needsIds };
  const complete = (value: unknown): unknown => {
    if (!isList) return normalise === undefined ? value : normalised(readObject(value, 'body'), normalise);
    const list = withEnvelope(readObject(value, 'body'), page);
    return normalise === undefined ? list : withItems(list, normalise);
  };
  const completed = complete(json);
  if (completed === json) return { status, json, bytes: answer.body };
  // Whole numbers that a double cannot hold keep their digits, as they do in a response that is forwarded unchanged.
  const exact = hasLongNumbers(json) ? complete(parseLongNumbers(withoutMark(answer.body))) : completed;
  return { status, json: completed, bytes: Buffer.from(stringifyLongNumbers(exact)) };
}

type Normalise = (resource: JsonObject) => JsonObject;

/** The same object when nothing changes: then its bytes need not change either. */
function normalised(resource: JsonObject, normalise: Normalise): JsonObject {
  const changed = normalise(resource);
  return JSON.stringify(changed) === JSON.stringify(resource) ? resource : changed;
}

function withItems(list: JsonObject, normalise: Normalise): JsonObject {
  const given = readArray(list['data'], 'body.data');
  const data = given.map((item) => (isObject(item) ? normalised(item, normalise) : item));
  return data.every((item, index) => item === given[index]) ? list : { ...list, data };
}

function withoutMark(body: Buffer): Buffer {
  return body.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
    ? body.subarray(BYTE_ORDER_MARK.length)
    : body;
}
