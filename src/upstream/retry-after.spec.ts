import { describe, expect, it } from '@jest/globals';
import { readRetryAfter, retryAfterMs } from './retry-after.js';

const NOW = Date.UTC(2026, 10, 21, 12, 0, 0);
const LONGEST_MS = (2 ** 31 - 1) * 1_000;

describe('retryAfterMs', () => {
  it.each([
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': ' 7 ' }, 7_000],
    [{ 'retry-after': ['7', '9'] }, 7_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:05 GMT' }, 5_000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '120' }, 120],
    [{ 'retry-after-ms': '120.5', 'retry-after': '1' }, 120.5],
    [{ 'retry-after-ms': 'soon', 'retry-after': '1' }, 1_000],
    [{ 'retry-after': '2147483648' }, LONGEST_MS],
    [{ 'retry-after': '99999999999999999999' }, LONGEST_MS],
    [{ 'retry-after': '9'.repeat(400) }, LONGEST_MS],
    [{ 'retry-after-ms': '99999999999999999999', 'retry-after': '1' }, LONGEST_MS],
  ])('reads %p as a time to wait', (headers, expected) => expect(retryAfterMs(headers, NOW)).toBe(expected));

  it.each([
    {},
    { 'retry-after': '' },
    { 'retry-after': '-1' },
    { 'retry-after': '1.5' },
    { 'retry-after': '1e9' },
    { 'retry-after': '9 9' },
    { 'retry-after': 'tomorrow' },
    { 'retry-after': '2026-11-21T12:00:05Z' },
    { 'retry-after': 'Sat, 99 Nov 2026 12:00:05 GMT' },
    { 'retry-after-ms': '-5' },
    { 'retry-after-ms': 'Infinity' },
  ])('ignores %p as a time to wait', (headers) => expect(retryAfterMs(headers, NOW)).toBeUndefined());
});

describe('readRetryAfter', () => {
  it.each(['30', 'Sat, 21 Nov 2026 12:00:05 GMT'])('passes %s on unchanged', (value) => {
    expect(readRetryAfter({ 'retry-after': value })).toBe(value);
  });

  it('bounds seconds by a value that every client can read', () => {
    expect(readRetryAfter({ 'retry-after': '99999999999999999999' })).toBe('2147483647');
  });

  it('drops a value that is neither seconds nor a date', () => {
    expect(readRetryAfter({ 'retry-after': '1\r\nx-injected: 1' })).toBeUndefined();
  });
});
