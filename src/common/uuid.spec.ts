import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { foldId, isUuid, randomUuidDigits, toUuid, uuidv7 } from './uuid.js';

it('isUuid accepts UUIDs in lower and upper case', () => {
  const id = randomUUID();
  expect(isUuid(id)).toBe(true);
  expect(isUuid(id.toUpperCase())).toBe(true);
});

it.each([
  '',
  'local',
  '0',
  `${randomUUID()}\n`,
  ` ${randomUUID()}`,
  randomUUID().replaceAll('-', ''),
  `{${randomUUID()}}`,
])('isUuid refuses other references', (text) => expect(isUuid(text)).toBe(false));

it('foldId converts ids to lower case and keeps other text', () => {
  const id = randomUUID();
  expect([id.toUpperCase(), id, 'Local', ''].map(foldId)).toEqual([id, id, 'Local', '']);
});

describe('randomUuidDigits', () => {
  const many = Array.from({ length: 2_000 }, () => randomUuidDigits());

  it('returns the digits of UUIDs of version 4', () => {
    for (const digits of many) {
      expect(digits).toMatch(/^[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
      expect(toUuid(digits).replaceAll('-', '')).toBe(digits);
      expect(isUuid(toUuid(digits))).toBe(true);
    }
  });

  it('never repeats, and uses every digit at every random position', () => {
    expect(new Set(many).size).toBe(many.length);
    for (let place = 0; place < 32; place += 1) {
      const expected = { 12: 1, 16: 4 }[place] ?? 16;
      expect(new Set(many.map((digits) => digits[place])).size).toBe(expected);
    }
  });
});

describe('uuidv7', () => {
  it('begins with its time, then version 7 and the variant', () => {
    expect(uuidv7(new Date('2022-02-22T19:22:22Z'))).toMatch(
      /^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(isUuid(uuidv7(new Date()))).toBe(true);
  });

  it('sorts by time and never comes twice', () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => uuidv7(new Date(1_800_000_000_000 + index)));
    expect(ids.toSorted()).toEqual(ids);
    const at = new Date();
    expect(new Set(Array.from({ length: 1_000 }, () => uuidv7(at))).size).toBe(1_000);
  });
});
