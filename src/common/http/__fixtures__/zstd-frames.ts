import { readFileSync } from 'node:fs';

/** `{"results":[{"index":0},…]}` with 2,000 results, as zstd 1.5.7 writes it (`zstdCompressSync` of Node 24). */
export const ZSTD_RESULTS = readFileSync(new URL('results.json.zst', import.meta.url));

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
const BLOCK_BYTES = 128 * 1024;
const [REPEATED, LAST] = [1, 1] as const;

/** The start of a frame with a window of 2^windowLog bytes. */
export function zstdHeader(windowLog: number): Buffer {
  return Buffer.from([...MAGIC, 0, (windowLog - 10) << 3]);
}

/** The start of a frame whose window is its whole content. */
export function zstdHeaderOf(contentBytes: number): Buffer {
  const header = Buffer.from([...MAGIC, 0b1010_0000, 0, 0, 0, 0]);
  header.writeUInt32LE(contentBytes, 5);
  return header;
}

/** A frame of zeros: four bytes for each 128 KiB. */
export function zstdZeros(blocks: number): Buffer {
  const header = (isLast: number) => (BLOCK_BYTES << 3) | (REPEATED << 1) | isLast;
  const body = Buffer.alloc(4 * blocks);
  for (let block = 0; block < blocks; block += 1)
    body.writeUIntLE(header(block === blocks - 1 ? LAST : 0), 4 * block, 3);
  return Buffer.concat([zstdHeader(21), body]);
}

/** A frame of one block that is not compressed: Node 20 has no encoder. */
export function zstdFrame(text: string): Buffer<ArrayBuffer> {
  const header = Buffer.alloc(3);
  header.writeUIntLE((text.length << 3) | LAST, 0, 3);
  return Buffer.concat([zstdHeaderOf(text.length), header, Buffer.from(text)]);
}
