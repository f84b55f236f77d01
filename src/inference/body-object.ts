import { GatewayError } from '../common/errors/gateway.error.js';
import { isObject, isTooComplex, type JsonObject, parseForeignJson } from '../common/json/read.js';
import { excessOf, MAX_JSON_STRINGS } from '../common/json/scan.js';

/**
 * The limit on texts in a body that is parsed as a whole. Each text blocks the process for half a microsecond, and a
 * body has room for millions.
 */
const TEXTS = { depth: Infinity, strings: MAX_JSON_STRINGS };

/**
 * Parses a whole body. Most calls forward the parts that the gateway does not read.
 * @throws GatewayError `validation_failed`
 */
export function bodyObject(bytes: Buffer, parse: (json: Buffer) => unknown = parseForeignJson): JsonObject {
  if (excessOf(bytes, TEXTS) !== undefined) throw refused(`has more than ${MAX_JSON_STRINGS} texts and names`);
  const body = parse(bytes);
  if (isObject(body)) return body;
  throw refused(isTooComplex(bytes) ? 'has too many lists, objects or fields, or nests too deep' : 'is not valid JSON');
}

function refused(problem: string): GatewayError {
  return new GatewayError('validation_failed', { message: `The request body ${problem}.` });
}
