import { setImmediate as turn } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { ZSTD_RESULTS, zstdHeader, zstdHeaderOf, zstdZeros } from './__fixtures__/zstd-frames.js';
import { zstdDecoder } from './zstd-decoder.js';

const WINDOW = 8 * 1024 * 1024;
const SKIPPABLE = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
const TEXT = JSON.stringify({ results: Array.from({ length: 2_000 }, (_, index) => ({ index })) });

function decode(bytes: Buffer, pieceBytes = bytes.length): Promise<Buffer> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
  return buffer(Readable.from(pieces).compose(zstdDecoder(WINDOW)));
}

describe('zstdDecoder', () => {
  it.each([1, 7, 1_000, 100_000])('decodes data in pieces of %i bytes', async (pieceBytes) => {
    expect((await decode(ZSTD_RESULTS, pieceBytes)).toString()).toBe(TEXT);
  });

  it.each([1, 100_000])(
    'decodes several frames, and skips what is to be skipped, in pieces of %i bytes',
    async (bytes) => {
      const all = Buffer.concat([ZSTD_RESULTS, SKIPPABLE, zstdZeros(1), ZSTD_RESULTS, SKIPPABLE]);
      const expected = Buffer.concat([Buffer.from(TEXT), Buffer.alloc(128 * 1024), Buffer.from(TEXT)]);
      expect((await decode(all, bytes)).equals(expected)).toBe(true);
    },
  );

  it('returns each flushed piece at once', async () => {
    const decoder = zstdDecoder(WINDOW);
    decoder.write(zstdZeros(2).subarray(0, -4));
    const first = await new Promise((resolve) => decoder.once('data', resolve));
    expect(first).toHaveLength(128 * 1024);
    decoder.destroy();
  });

  it.each([
    ['cut off in a block', ZSTD_RESULTS.subarray(0, -10)],
    ['cut off in a header', Buffer.concat([ZSTD_RESULTS, ZSTD_RESULTS.subarray(0, 3)])],
    ['no zstd', Buffer.from('{"results":[]}')],
    ['not valid', Buffer.concat([ZSTD_RESULTS.subarray(0, 20), Buffer.alloc(200, 0xff)])],
    ['of a window above the bound', Buffer.concat([zstdHeader(24), zstdZeros(1).subarray(6)])],
    [
      'of a content above the bound, without a window',
      Buffer.concat([zstdHeaderOf(WINDOW + 1), zstdZeros(1).subarray(6)]),
    ],
    [
      'with a window above the bound in its second frame',
      Buffer.concat([ZSTD_RESULTS, zstdHeader(27), Buffer.alloc(9)]),
    ],
  ])('refuses data that are %s', async (_what, bytes) => {
    await expect(decode(bytes)).rejects.toThrow('zstd');
    await expect(decode(bytes, 5)).rejects.toThrow('zstd');
  });

  it('decodes only what the receiver takes, however much it is', async () => {
    const decoder = zstdDecoder(WINDOW);
    // 2 GiB.
    decoder.write(zstdZeros(16 * 1024));
    await new Promise((resolve) => decoder.once('data', resolve));
    decoder.pause();
    for (let times = 0; times < 20; times += 1) await turn();
    expect(decoder.readableLength).toBeLessThan(16);
    decoder.destroy();
    expect(decoder.destroyed).toBe(true);
  });
});
