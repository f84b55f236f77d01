import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { EventSplitter, readEvent, withData } from './event-splitter.js';

const original = Buffer.concat.bind(Buffer);

function split(...chunks: readonly string[]): readonly string[] {
  const splitter = new EventSplitter(1_000);
  return chunks.flatMap((chunk) => splitter.push(Buffer.from(chunk))).map(String);
}

describe('EventSplitter', () => {
  it.each([
    ['LF', 'data: 1\n\ndata: 2\n\n', ['data: 1\n\n', 'data: 2\n\n']],
    ['CRLF', 'data: 1\r\n\r\ndata: 2\r\n\r\n', ['data: 1\r\n\r\n', 'data: 2\r\n\r\n']],
    ['CR', 'data: 1\r\rdata: 2\r\r', ['data: 1\r\r', 'data: 2\r\r']],
    ['both', 'data: 1\r\n\ndata: 2\n\r\n', ['data: 1\r\n\n', 'data: 2\n\r\n']],
  ])('splits a stream at blank lines (%s)', (_ending, text, events) => {
    expect(split(text)).toEqual(events);
  });

  it('keeps comments and events without data when it splits a stream', () => {
    expect(split(': hello\n\nid: 1\ndata:\n\n')).toEqual([': hello\n\n', 'id: 1\ndata:\n\n']);
  });

  it('holds the bytes of an event until it ends', () => {
    const splitter = new EventSplitter(100);
    expect(splitter.push(Buffer.from('data: 1\n'))).toEqual([]);
    expect(splitter.push(Buffer.from('\ndata')).map(String)).toEqual(['data: 1\n\n']);
    expect(splitter.rest().toString()).toBe('data');
  });

  it('refuses an event that is longer than the limit', () => {
    expect(() => new EventSplitter(10).push(Buffer.alloc(11, 'x'))).toThrow('too long');
  });

  it('copies each byte of a long event at most once, however small its pieces are', () => {
    const copied: number[] = [];
    const concat = jest.spyOn(Buffer, 'concat').mockImplementation((list, length) => {
      copied.push(list.reduce((sum, { length: each }) => sum + each, 0));
      return original(list, length);
    });
    const size = 16 * 1024;
    const splitter = new EventSplitter(size);
    const events = Array.from({ length: size - 2 }, () => splitter.push(Buffer.from('x')));
    const last = [...splitter.push(Buffer.from('\n')), ...splitter.push(Buffer.from('\n'))];
    concat.mockRestore();
    expect([events.flat().length, last.map(({ length }) => length)]).toEqual([0, [size]]);
    expect(copied.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(size);
  });

  it.each([
    ['many pieces', 'data: '.split('')],
    ['one piece', ['data: x']],
  ])('refuses an event that is longer than the limit and comes in %s', (_how, pieces) => {
    const splitter = new EventSplitter(5);
    expect(() => pieces.forEach((piece) => splitter.push(Buffer.from(piece)))).toThrow('too long');
  });

  it('splits a longer event into pieces when asked to, and finds the next one', () => {
    const splitter = new EventSplitter(10, 'split');
    const pieces = ['data: 12345678', '90', '\n', '\ndata: 1\n\n'].flatMap((text) => splitter.push(Buffer.from(text)));
    expect(pieces.map(String)).toEqual(['data: 12345678', '90\n\n', 'data: 1\n\n']);
  });

  it('neither loses nor changes bytes of a stream, however it is cut', () => {
    const text = fc.array(fc.constantFrom('a', ':', '\n', '\r', '\r\n', '\n\n', 'data: x'), { maxLength: 30 });
    fc.assert(
      fc.property(text, fc.array(fc.nat(6), { minLength: 1 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.join(''));
        const splitter = new EventSplitter(1_000);
        const out: Buffer[] = [];
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const length = (cuts[turn % cuts.length] ?? 0) + 1;
          out.push(...splitter.push(bytes.subarray(at, at + length)));
          at += length;
        }
        const rest = splitter.rest();
        expect(Buffer.concat([...out, rest]).equals(bytes)).toBe(true);
        // The rest contains no whole event, and each piece contains one at most.
        expect(rest.toString()).not.toMatch(/(\r\n|\r(?!\n)|\n)(\r|\n)/);
      }),
    );
  });
});

describe('readEvent', () => {
  it.each([
    ['event: endpoint\ndata: /m\n\n', { type: 'endpoint', data: '/m' }],
    ['\u{feff}event:endpoint\r\ndata:/m\r\n\r\n', { type: 'endpoint', data: '/m' }],
    ['data: a\ndata:  b\n\n', { type: 'message', data: 'a\n b' }],
    ['data\n\n', { type: 'message', data: '' }],
    [': comment\nretry: 1\n\n', { type: 'message', data: undefined }],
  ])('reads the event %j', (text, event) => {
    expect(readEvent(Buffer.from(text))).toEqual(event);
  });
});

it('withData keeps the other fields of an event', () => {
  const event = Buffer.from('id: 7\r\nevent: message\r\ndata: a\r\ndata: b\r\n\r\n');
  expect(withData(event, 'c').toString()).toBe('id: 7\nevent: message\ndata: c\n\n');
  expect(withData(event, 'c\nid: 8').toString()).toBe('id: 7\nevent: message\ndata: c\ndata: id: 8\n\n');
});
