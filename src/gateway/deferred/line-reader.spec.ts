import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from '@jest/globals';
import { LineReader, TooLargeError } from './line-reader.js';

const BOUNDS = { bytes: 100, lineBytes: 10, lines: 3 };

async function linesOf(chunks: readonly string[], bounds = BOUNDS): Promise<readonly string[]> {
  const lines: string[] = [];
  const reader = new LineReader((line, number) => lines.push(`${number}:${line.toString()}`), bounds);
  await pipeline(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), reader);
  return lines;
}

describe('LineReader', () => {
  it.each([[['a\nb\nc\n']], [['a\n', 'b\n', 'c']], [['a', '\nb', '\n', 'c\n']], [['a\nb\nc\n\n']]])(
    'reads the lines of %j',
    async (chunks) => {
      expect(await linesOf(chunks)).toEqual(['1:a', '2:b', '3:c']);
    },
  );

  it('leaves out a byte order mark at the beginning', async () => {
    expect(await linesOf(['\ufeffa\nb', '\r\n'])).toEqual(['1:a', '2:b\r']);
  });

  it('leaves out empty lines, and counts them', async () => {
    expect(await linesOf(['a\n \r\nb'])).toEqual(['1:a', '3:b']);
  });

  it.each([
    ['the bytes', ['a\n'.repeat(60)], { ...BOUNDS, lines: 1_000 }],
    ['a line', ['12345', '678901\n'], BOUNDS],
    ['a line without an end', ['12345', '678901'], BOUNDS],
    ['the lines', ['a\nb\nc\nd\n'], BOUNDS],
  ])('refuses too much of %s', async (_name, chunks, bounds) => {
    await expect(linesOf(chunks, bounds)).rejects.toThrow(TooLargeError);
  });

  it('ends when a line cannot be read', async () => {
    const reader = new LineReader(() => {
      throw new Error('not this one');
    }, BOUNDS);
    await expect(pipeline(Readable.from([Buffer.from('a\n')]), reader)).rejects.toThrow('not this one');
  });
});
