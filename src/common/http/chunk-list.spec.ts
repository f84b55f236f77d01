import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ChunkList } from './chunk-list.js';

describe('ChunkList', () => {
  it('hands on a chunk that is alone without a copy', () => {
    const list = new ChunkList();
    const chunk = Buffer.from('x');
    list.push(chunk);
    expect(list.take()).toBe(chunk);
    expect([list.size, list.take().length]).toEqual([0, 0]);
  });

  it('does not copy large chunks before they are joined', () => {
    const list = new ChunkList();
    const chunks = [Buffer.alloc(8_192, 'a'), Buffer.alloc(8_192, 'b')];
    for (const chunk of chunks) list.push(chunk);
    expect([list.size, list.pieces]).toEqual([16_384, 2]);
    expect(list.take().equals(Buffer.concat(chunks))).toBe(true);
  });

  it('holds few objects for many small chunks', () => {
    const list = new ChunkList();
    const size = 4 * 1024 * 1024;
    for (let each = 0; each < size; each += 1) list.push(Buffer.from([each & 0xff]));
    expect(list.size).toBe(size);
    expect(list.pieces).toBeLessThan(100);
    const joined = list.take();
    expect([joined.length, joined[255], joined[size - 1]]).toEqual([size, 255, 255]);
  });

  it('is not moved by what its giver does with a small chunk afterwards', () => {
    const list = new ChunkList();
    const chunk = Buffer.from('b');
    list.push(Buffer.from('a'));
    list.push(chunk);
    chunk.fill('x');
    expect(list.take().toString()).toBe('ab');
  });

  it('joins chunks of all lengths in their order, again and again', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.nat(9_000), { maxLength: 12 }), { maxLength: 3 }), (rounds) => {
        const list = new ChunkList();
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
