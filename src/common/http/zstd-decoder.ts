import { Duplex } from 'node:stream';
import { isArrayBuffer } from 'node:util/types';
import { isObject } from '../json/read.js';

/** RFC 8878, section 3.1.1: a frame, and its longest header without the id of a dictionary. */
const FRAME_MAGIC = 0xfd2fb528;
const MAX_HEADER_BYTES = 14;
/** RFC 8878, section 3.1.2: all skippable frames, from 0x184D2A50 to 0x184D2A5F. */
const SKIPPABLE_MAGIC = 0x184d2a5;
/** What one step takes and returns at most. The output holds a whole block, the unit of zstd. */
const INPUT_BYTES = 16 * 1024;
const OUTPUT_BYTES = 128 * 1024;
/** `ZSTD_inBuffer` and `ZSTD_outBuffer`: address, size and position, 4 bytes each. */
const STRUCT_BYTES = 12;

/**
 * Decodes zstd where Node cannot (before 22.15): the library of zstd itself as WebAssembly. It decodes a block at a time,
 * and only when the receiver wants more.
 *
 * @param maxWindowBytes a frame that needs more memory is refused. The library would allow 128 MiB
 */
export function zstdDecoder(maxWindowBytes: number): Duplex {
  return Duplex.from((source: AsyncIterable<Buffer>) => decoded(source, maxWindowBytes));
}

async function* decoded(source: AsyncIterable<Buffer>, maxWindowBytes: number): AsyncGenerator<Buffer> {
  const decoder = new FrameDecoder(await loadLibrary());
  try {
    let rest: Buffer = Buffer.alloc(0);
    let isInFrame = false;
    for await (const chunk of source) {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (rest.length > 0) {
        if (!isInFrame) {
          const window = windowBytes(rest);
          if (window === undefined) break;
          if (window > maxWindowBytes) throw new Error('a zstd frame needs too much memory');
          isInFrame = true;
        }
        // A full output may have more behind it, without further input.
        for (let isFull = true; isInFrame && (isFull || rest.length > 0);) {
          const { taken, output, isEnd } = decoder.step(rest);
          rest = rest.subarray(taken);
          isFull = output.length === OUTPUT_BYTES;
          isInFrame = !isEnd;
          if (output.length > 0) yield output;
        }
      }
    }
    if (isInFrame || rest.length > 0) throw new Error('the zstd data end too early');
  } finally {
    decoder.free();
  }
}

/**
 * The memory that the frame at the start of the bytes needs. Undefined: its header is not complete.
 * @throws Error where no frame begins, or one that needs a dictionary
 */
function windowBytes(bytes: Buffer): number | undefined {
  const header = Buffer.alloc(MAX_HEADER_BYTES);
  const known = bytes.copy(header);
  if (known < 6) return undefined;
  const magic = header.readUInt32LE();
  if (magic >>> 4 === SKIPPABLE_MAGIC) return 0;
  const descriptor = header.readUInt8(4);
  if (magic !== FRAME_MAGIC || (descriptor & 0b11) !== 0) throw new Error('no zstd frame without a dictionary');
  const isSingleSegment = (descriptor & 0b10_0000) !== 0;
  if (!isSingleSegment) {
    const window = header.readUInt8(5);
    const base = 2 ** (10 + (window >> 3));
    return base + (base / 8) * (window & 0b111);
  }
  // The window is the whole content, whose size comes next, in 1, 2, 4 or 8 bytes.
  const sizeBytes = 2 ** (descriptor >> 6);
  if (known < 5 + sizeBytes) return undefined;
  if (sizeBytes === 8) return Number(header.readBigUInt64LE(5));
  return header.readUIntLE(5, sizeBytes) + (sizeBytes === 2 ? 256 : 0);
}

interface Step {
  /** How many bytes of the input were decoded. */
  readonly taken: number;
  readonly output: Buffer;
  /** The frame is complete, and all of it was returned. */
  readonly isEnd: boolean;
}

/** Decodes one frame after another, in memory of its own within that of the library. */
class FrameDecoder {
  readonly #context: number;
  /** Of the input, the output, and the two structures that describe them. */
  readonly #memory: number;

  constructor(private readonly library: Library) {
    this.#context = library.createContext();
    this.#memory = library.malloc(INPUT_BYTES + OUTPUT_BYTES + 2 * STRUCT_BYTES);
    if (this.#context !== 0 && this.#memory !== 0) return;
    this.free();
    throw new Error('there is no memory to decode zstd');
  }

  step(bytes: Buffer): Step {
    const input = this.#memory;
    const output = input + INPUT_BYTES;
    const structures = output + OUTPUT_BYTES;
    const piece = bytes.subarray(0, INPUT_BYTES);
    const before = this.library.memory();
    piece.copy(before, input);
    for (const [index, value] of [input, piece.length, 0, output, OUTPUT_BYTES, 0].entries())
      before.writeUInt32LE(value, structures + 4 * index);
    const hint = this.library.decompress(this.#context, structures + STRUCT_BYTES, structures);
    // Codes of errors are negative. Otherwise it is how many bytes of the frame may follow.
    if (hint < 0) throw new Error('the zstd data are not valid');
    // The memory may have grown, and then is another one.
    const after = this.library.memory();
    const produced = after.readUInt32LE(structures + 2 * STRUCT_BYTES - 4);
    return {
      taken: after.readUInt32LE(structures + STRUCT_BYTES - 4),
      output: Buffer.from(after.subarray(output, output + produced)),
      isEnd: hint === 0,
    };
  }

  free(): void {
    this.library.freeContext(this.#context);
    this.library.free(this.#memory);
  }
}

interface Library {
  memory(): Buffer;
  readonly malloc: NumberFunction;
  readonly free: NumberFunction;
  readonly createContext: NumberFunction;
  readonly freeContext: NumberFunction;
  readonly decompress: NumberFunction;
}

type NumberFunction = (...values: readonly number[]) => number;

let loading: Promise<Library> | undefined;

/** Once, with the first answer that needs it. */
function loadLibrary(): Promise<Library> {
  loading ??= import('zstddec/stream').then(
    ({ ZSTDDecoder }) =>
      new Promise((resolve, reject) => {
        // The package decodes data that are all there, not data that come bit by bit: so its functions are called here.
        class Loader extends ZSTDDecoder {
          override _init(result: Loaded): void {
            super._init(result);
            resolve(toLibrary(result.instance.exports));
          }
        }
        new Loader().init().catch(reject);
      }),
  );
  return loading;
}

interface Loaded {
  readonly instance: { readonly exports: object };
}

function toLibrary(exports: object): Library {
  const functionOf = (name: string): NumberFunction => {
    const found: unknown = Reflect.get(exports, name);
    if (typeof found !== 'function') throw new Error(`zstddec has no function ${name}`);
    return (...values) => Number(Reflect.apply(found, undefined, values));
  };
  const memory: unknown = Reflect.get(exports, 'memory');
  return {
    memory: () => {
      const bytes: unknown = isObject(memory) ? memory['buffer'] : undefined;
      if (!isArrayBuffer(bytes)) throw new Error('zstddec has no memory');
      return Buffer.from(bytes);
    },
    malloc: functionOf('malloc'),
    free: functionOf('free'),
    createContext: functionOf('ZSTD_createDCtx'),
    freeContext: functionOf('ZSTD_freeDCtx'),
    decompress: functionOf('ZSTD_decompressStream'),
  };
}
