import { GatewayError } from '../common/errors/gateway.error.js';
import { isObject, isTooComplex, type JsonObject, parseForeignJson } from '../common/json/read.js';

/**
 * A body that is read as a whole. Most calls pass on what the gateway does not read.
 * @throws GatewayError `validation_failed`
 */
export function bodyObject(bytes: Buffer): JsonObject {
  const body = parseForeignJson(bytes);
  if (isObject(body)) return body;
  const problem = isTooComplex(bytes) ? 'has too many lists and objects, or nests too deep' : 'is not valid JSON';
  throw new GatewayError('validation_failed', { message: `The request body ${problem}.` });
}
