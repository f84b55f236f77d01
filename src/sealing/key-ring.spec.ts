import { describe, expect, it } from '@jest/globals';
import { KeyRing, parseMasterKey } from './key-ring.js';

const BYTES = Buffer.from(Array.from({ length: 32 }, (_, index) => 250 - index * 3));

describe('parseMasterKey', () => {
  it.each([
    ['hexadecimal', BYTES.toString('hex')],
    ['hexadecimal in capitals', BYTES.toString('hex').toUpperCase()],
    ['base64', BYTES.toString('base64')],
    ['base64 without its padding', BYTES.toString('base64').replace('=', '')],
    ['base64url', BYTES.toString('base64url')],
  ])('reads a master key in %s', (_form, text) => expect(parseMasterKey(text).bytes).toEqual(BYTES));

  it('gives one key one name in every form, and other keys other names', () => {
    const { id } = parseMasterKey(BYTES.toString('hex'));
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(parseMasterKey(BYTES.toString('base64')).id).toBe(id);
    expect(parseMasterKey(Buffer.alloc(32, 1).toString('hex')).id).not.toBe(id);
  });

  it('names a key without showing its beginning', () => {
    expect(BYTES.toString('hex')).not.toContain(parseMasterKey(BYTES.toString('hex')).id);
  });

  it.each(['', 'short', BYTES.toString('hex').slice(2), BYTES.subarray(1).toString('base64'), `${'00'.repeat(33)}`])(
    'refuses %j, which is not 32 bytes, and does not repeat it',
    (text) => {
      expect(() => parseMasterKey(text)).toThrow(/32 bytes/);
      if (text !== '') expect(() => parseMasterKey(text)).not.toThrow(text);
    },
  );
});

describe('KeyRing', () => {
  const current = parseMasterKey(Buffer.alloc(32, 1).toString('hex'));
  const previous = parseMasterKey(Buffer.alloc(32, 2).toString('hex'));

  it('finds current and previous keys by their names', () => {
    const ring = new KeyRing(current, [previous]);
    expect(ring.find(current.id)).toBe(current);
    expect(ring.find(previous.id)).toBe(previous);
  });

  it('does not find a key that was removed', () => {
    expect(new KeyRing(current).find(previous.id)).toBeUndefined();
    expect(new KeyRing(current).find('')).toBeUndefined();
  });
});
