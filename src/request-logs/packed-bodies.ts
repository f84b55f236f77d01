import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { constants, gunzip, gzip, type ZlibOptions } from 'node:zlib';
import { readCodings } from '../common/http/content-coding.js';
import { decodeBody } from '../common/http/decode-body.js';
import { isObject, type JsonObject, readNumber, readString, stringOrUndefined } from '../common/json/read.js';
import type { CapturedBodies, CapturedBody } from '../telemetry/body-capture.js';

/** A body, or its beginning. */
export interface LoggedBody {
  readonly content_type: string | null;
  readonly bytes: number;
  readonly truncated: boolean;
  readonly encoding: BodyEncoding;
  readonly content: string;
}

export type BodyEncoding = 'utf-8' | 'base64';

export interface PackedBodies {
  readonly request: LoggedBody | null;
  readonly response: LoggedBody | null;
}

/** More than two bodies of 1 MiB as JSON. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;
/** Of a compressed body, decoded. */
const MAX_DECODED_BYTES = 8 * 1024 * 1024;

const compress = promisify<string, ZlibOptions, Buffer>(gzip);
const decompress = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);

/** Both bodies as compressed JSON. */
export async function packed({ request, response, rules }: CapturedBodies): Promise<Buffer> {
  const bodies: PackedBodies = {
    request: request === undefined ? null : await readable(request, rules.maxBytes),
    response: response === undefined ? null : await readable(response, rules.maxBytes),
  };
  return compress(JSON.stringify(bodies), { level: constants.Z_BEST_SPEED });
}

/** @throws Error for what `packed` did not make */
export async function unpacked(bytes: Buffer): Promise<PackedBodies> {
  const text = await decompress(bytes, { maxOutputLength: MAX_UNPACKED_BYTES });
  const bodies: unknown = JSON.parse(text.toString());
  if (!isObject(bodies)) throw new Error('no bodies');
  return { request: bodyIn(bodies['request']), response: bodyIn(bodies['response']) };
}

async function readable(body: CapturedBody, maxBytes: number): Promise<LoggedBody> {
  const bytes = await decoded(body);
  const kept = bytes.subarray(0, maxBytes);
  const text = textIn(kept, kept.length < bytes.length || body.bytes.length < body.size);
  return {
    content_type: body.contentType ?? null,
    bytes: body.size,
    truncated: body.bytes.length < body.size || kept.length < bytes.length,
    encoding: text === undefined ? 'base64' : 'utf-8',
    content: text ?? kept.toString('base64'),
  };
}

/** The beginning of a compressed body stays as it is. */
async function decoded({ bytes, size, contentEncoding }: CapturedBody): Promise<Buffer> {
  const codings = readCodings(contentEncoding);
  if (codings === undefined || codings.length === 0 || bytes.length < size) return bytes;
  return decodeBody(bytes, codings, MAX_DECODED_BYTES).catch(() => bytes);
}

/** Undefined for what is not text. The cut may go through a character, which is left out. */
function textIn(bytes: Buffer, isCut: boolean): string | undefined {
  if (!isCut) return isUtf8(bytes) ? bytes.toString() : undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

function bodyIn(value: unknown): LoggedBody | null {
  if (!isObject(value)) return null;
  return {
    content_type: stringOrUndefined(value['content_type']) ?? null,
    bytes: readNumber(value['bytes'], 'bytes'),
    truncated: value['truncated'] === true,
    encoding: encodingOf(value),
    content: readString(value['content'], 'content'),
  };
}

function encodingOf({ encoding }: JsonObject): BodyEncoding {
  return encoding === 'base64' ? 'base64' : 'utf-8';
}
