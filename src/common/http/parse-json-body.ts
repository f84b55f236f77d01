import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { isNativeError } from 'node:util/types';
import { GatewayError } from '../errors/gateway.error.js';
import { type Coding, readCodings } from './content-coding.js';
import { excessOf, MAX_JSON_CONTAINERS, MAX_JSON_DEPTH, MAX_JSON_STRINGS } from '../json/scan.js';

const JSON_TYPE = /^application\/json$/;
const JSON_OR_SUFFIXED_TYPE = /^application\/(?:[a-z0-9.+-]*\+)?json$/;
const JSON_OR_OCTETS = /^application\/(?:(?:[a-z0-9.+-]*\+)?json|octet-stream)$/;
const UTF8 = /^charset\s*=\s*"?utf-?8"?$/;

export type JsonTypes = 'plain' | 'suffixed' | 'octets';
const TYPES: Readonly<Record<JsonTypes, RegExp>> = {
  plain: JSON_TYPE,
  suffixed: JSON_OR_SUFFIXED_TYPE,
  octets: JSON_OR_OCTETS,
};

/**
 * Refuses, before the body is read, anything but JSON in UTF-8. Reads the header as a lenient server
 * would, so that the next server interprets the body in the same way: a `charset` counts wherever it stands.
 * @param types `suffixed` also accepts types such as `application/merge-patch+json`, and `octets` those and bytes of no type
 * @param mayBeEncoded whether it may be compressed
 * @returns how it is
 * @throws GatewayError `unsupported_media_type`
 */
export function assertJsonBody(
  headers: IncomingHttpHeaders,
  types: JsonTypes,
  mayBeEncoded = false,
): readonly Coding[] {
  const codings = readCodings(headers['content-encoding']);
  const accepted = mayBeEncoded ? CODINGS : IDENTITY;
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  if (!TYPES[types].test(type.trim())) throw unsupported(accepted);
  const charsets = parameters.map((text) => text.trim()).filter((text) => text.startsWith('charset'));
  if (!charsets.every((text) => UTF8.test(text))) throw unsupported(accepted, 'The request body must be in UTF-8.');
  if (codings === undefined || (codings.length > 0 && !mayBeEncoded)) {
    const most = mayBeEncoded ? `must not be compressed in another way than ${CODINGS}` : 'must not be compressed';
    throw unsupported(accepted, `The request body ${most}.`);
  }
  return codings;
}

const IDENTITY = 'identity';
const CODINGS = 'gzip, deflate, br, zstd';

/** Says what would be accepted (RFC 9110, section 15.5.16, and RFC 7694). */
function unsupported(codings: string, message?: string): GatewayError {
  return new GatewayError('unsupported_media_type', {
    ...(message === undefined ? {} : { message }),
    headers: { accept: 'application/json', 'accept-encoding': codings },
  });
}

/**
 * The fields of one object: class-transformer takes quadratic time in them, so that 300,000 would block the process for a
 * minute.
 */
const MAX_FIELDS = 1_000;
const BOUNDS = {
  depth: MAX_JSON_DEPTH,
  containers: MAX_JSON_CONTAINERS,
  strings: MAX_JSON_STRINGS,
  fields: MAX_FIELDS,
};
const TOO_MUCH: Readonly<Record<keyof typeof BOUNDS, string>> = {
  depth: `nests more than ${MAX_JSON_DEPTH} levels`,
  containers: `has more than ${MAX_JSON_CONTAINERS} lists and objects`,
  strings: `has more than ${MAX_JSON_STRINGS} texts and names`,
  fields: `has an object with more than ${MAX_FIELDS} fields`,
};

/** @throws GatewayError `validation_failed` that names the position of the syntax error, but does not quote the text */
export function parseJsonBody(body: Buffer): unknown {
  if (!isUtf8(body)) throw new GatewayError('validation_failed', { message: 'The request body is not valid UTF-8.' });
  const excess = excessOf(body, BOUNDS);
  if (excess !== undefined) {
    throw new GatewayError('validation_failed', { message: `The request body ${TOO_MUCH[excess]}.` });
  }
  try {
    return JSON.parse(body.toString());
  } catch (cause) {
    const position = isNativeError(cause) ? /position (\d+)/.exec(cause.message)?.[1] : undefined;
    const where = position === undefined ? '' : ` (position ${position})`;
    throw new GatewayError('validation_failed', { message: `The request body is not valid JSON${where}.` });
  }
}
