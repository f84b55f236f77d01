import { describe, expect, it } from '@jest/globals';
import { EventBoundary } from './event-sink.js';

function isAfter(text: string, bytesAtOnce = text.length): boolean {
  const boundary = new EventBoundary();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += bytesAtOnce) boundary.push(bytes.subarray(at, at + bytesAtOnce));
  return boundary.isHere;
}

describe('EventBoundary', () => {
  it.each([
    { what: 'nothing', text: '' },
    { what: 'an event', text: 'data: 1\n\n' },
    { what: 'an event with lines that end in CR', text: 'data: 1\r\r' },
    { what: 'an event with lines that end in CRLF', text: 'data: 1\r\n\r\n' },
    { what: 'an event with lines that end differently', text: 'data: 1\r\r\n' },
    { what: 'a blank line at the beginning', text: '\r\n' },
    { what: 'a comment and its blank line', text: ': still here\n\n' },
  ])('is at a boundary after $what, however it arrives', ({ text }) => {
    expect(isAfter(text)).toBe(true);
    expect(isAfter(text, 1)).toBe(true);
  });

  it.each(['data: 1', 'data: 1\n', 'data: 1\r\n', 'data: 1\r', '\ndata: 1\n', 'data: 1\n\ndata: 2\n'])(
    'is not at a boundary after %j, however it arrives',
    (text) => {
      expect(isAfter(text)).toBe(false);
      expect(isAfter(text, 1)).toBe(false);
    },
  );
});
