import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { BodyBuffer } from './body-buffer.js';

afterEach(() => {
  jest.restoreAllMocks();
});

/** The joined bytes, and the pieces that were held before. */
function joined(list: BodyBuffer): { readonly whole: Buffer; readonly pieces: readonly Uint8Array[] } {
  const concat = jest.spyOn(Buffer, 'concat');
  const whole = list.take();
  return { whole, pieces: concat.mock.calls.flatMap(([pieces]) => pieces) };
}

describe('BodyBuffer', () => {
  it('returns a single chunk without a copy', () => {
    const list = new BodyBuffer();
    const chunk = Buffer.from('x');
    list.push(chunk);
    expect(list.take()).toBe(chunk);
    expect([list.size, list.take().length]).toEqual([0, 0]);
  });

  it('copies large chunks only when they are joined', () => {
    const list = new BodyBuffer();
    const chunks = [Buffer.alloc(8_192, 'a'), Buffer.alloc(8_192, 'b')];
    for (const chunk of chunks) list.push(chunk);
    expect(list.size).toBe(16_384);
    const { whole, pieces } = joined(list);
    expect(pieces.map((piece, index) => piece === chunks[index])).toEqual([true, true]);
    expect(whole.equals(Buffer.concat(chunks))).toBe(true);
  });

  it('holds few objects for many small chunks', () => {
    const list = new BodyBuffer();
    const size = 4 * 1024 * 1024;
    for (let each = 0; each < size; each += 1) list.push(Buffer.from([each & 0xff]));
    expect(list.size).toBe(size);
    const { whole, pieces } = joined(list);
    expect(pieces.length).toBeLessThan(100);
    expect([whole.length, whole[255], whole[size - 1]]).toEqual([size, 255, 255]);
  });

  it('does not change when a small chunk is overwritten afterwards', () => {
    const list = new BodyBuffer();
    const chunk = Buffer.from('b');
    list.push(Buffer.from('a'));
    list.push(chunk);
    chunk.fill('x');
    expect(list.take().toString()).toBe('ab');
  });

  it('joins chunks of all lengths in order, and can be reused', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(9_000), { maxLength: 12 }), { maxLength: 3 }), (rounds) => {
        const list = new BodyBuffer();
        for (const lengths of rounds) {
          const chunks = lengths.map((length, index) => Buffer.alloc(length, index + 1));
          for (const chunk of chunks) list.push(chunk);
          const whole = Buffer.concat(chunks);
          expect(list.size).toBe(whole.length);
          expect(list.take().equals(whole)).toBe(true);
        }
      }),
    );
  });
});
