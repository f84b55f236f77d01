import { Duplex } from 'node:stream';
import * as zlib from 'node:zlib';
import { zstdDecoder } from './zstd-decoder.js';

/** RFC 9659: a decoder of HTTP needs a window of 8 MiB at most. The library would allow 128 MiB. */
const MAX_ZSTD_WINDOW_LOG = 23;
/** More would be a trick: each coding multiplies the work. */
const MAX_CODINGS = 2;
/** RFC 1950: the low bits of the first byte of zlib data. Some senders write `deflate` without that frame. */
const ZLIB_METHOD = 8;
const METHOD_BITS = 0x0f;

/** Node has it since 22.15, and the types of Node 20 do not. */
const createZstd: unknown = Reflect.get(zlib, 'createZstdDecompress');
const WINDOW_PARAMETER: unknown = Reflect.get(zlib.constants, 'ZSTD_d_windowLogMax');

const NONE: readonly Coding[] = [];

export type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** In the order in which they were applied; none for `identity`. Undefined: one is unknown, or they are too many. */
export function readCodings(header: string | readonly string[] | undefined): readonly Coding[] | undefined {
  if (header === undefined) return NONE;
  const names = [header]
    .flat()
    .join(',')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const known = names.map(codingOf).filter((coding) => coding !== undefined);
  return known.length === names.length && known.length <= MAX_CODINGS ? known : undefined;
}

/** @param firstBytes show which of its two forms deflate has */
export function decoderOf(coding: Coding, firstBytes: Buffer | undefined): Duplex {
  switch (coding) {
    case 'gzip':
      return zlib.createGunzip();
    case 'deflate': {
      const isFramed = ((firstBytes?.[0] ?? ZLIB_METHOD) & METHOD_BITS) === ZLIB_METHOD;
      return isFramed ? zlib.createInflate() : zlib.createInflateRaw();
    }
    case 'br':
      return zlib.createBrotliDecompress();
    case 'zstd':
      return createZstdDecoder();
  }
}

function codingOf(name: string): Coding | undefined {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'deflate':
    case 'br':
    case 'zstd':
      return name;
    default:
      return undefined;
  }
}

function createZstdDecoder(): Duplex {
  if (typeof createZstd !== 'function') return zstdDecoder(2 ** MAX_ZSTD_WINDOW_LOG);
  const params = { [String(WINDOW_PARAMETER)]: MAX_ZSTD_WINDOW_LOG };
  const decoder: unknown = Reflect.apply(createZstd, undefined, [{ params }]);
  if (decoder instanceof Duplex) return decoder;
  throw new Error('the zstd decoder of Node is not a stream');
}
