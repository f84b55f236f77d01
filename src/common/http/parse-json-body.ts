import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { isNativeError } from 'node:util/types';
import { GatewayError } from '../errors/gateway.error.js';
import { isDeeperThan } from '../json/json-depth.js';
import { hasObjectLargerThan } from '../json/json-fields.js';

/** Any parameters (RFC 9110, 5.6.6), also none behind a semicolon, but no character set other than UTF-8. */
const JSON_TYPE =
  /^application\/(?:[a-z0-9.+-]*\+)?json\s*(?:;\s*(?:(?:charset=(?:utf-8|"utf-8")|(?!charset=)[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[^"\\]|\\.)*"))\s*)?)*$/i;

/** Refuses what cannot be read as JSON in UTF-8 before the body is read. */
export function assertJsonBody(headers: IncomingHttpHeaders): void {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) throw new GatewayError('unsupported_media_type');
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new GatewayError('unsupported_media_type', { message: 'The request body must not be compressed.' });
  }
}

/** Deeper JSON would overflow the stack of whatever walks it: validation, serialisation, the database. */
const MAX_DEPTH = 64;
/** class-transformer's time grows with the square of an object's fields: 300,000 of them would stop the process for a minute. */
const MAX_FIELDS = 1_000;

/** @throws GatewayError `validation_failed` that tells where the JSON breaks, but not what stands there */
export function parseJsonBody(body: Buffer): unknown {
  if (!isUtf8(body)) throw new GatewayError('validation_failed', { message: 'The request body is not valid UTF-8.' });
  if (isDeeperThan(body, MAX_DEPTH)) {
    throw new GatewayError('validation_failed', { message: `The request body nests more than ${MAX_DEPTH} levels.` });
  }
  const value = parse(body.toString());
  if (hasObjectLargerThan(value, MAX_FIELDS)) {
    const message = `The request body has an object with more than ${MAX_FIELDS} fields.`;
    throw new GatewayError('validation_failed', { message });
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const position = isNativeError(cause) ? /position (\d+)/.exec(cause.message)?.[1] : undefined;
    const where = position === undefined ? '' : ` (position ${position})`;
    throw new GatewayError('validation_failed', { message: `The request body is not valid JSON${where}.` });
  }
}
