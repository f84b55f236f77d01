import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isStorableText, toStorableText } from './storable-text.js';

describe('storable text', () => {
  it.each(['', 'plain', 'a\u0001\u007f\u0085\n', 'Zürich', '检索', '🙂', '\uFFFD', '\uFFFF'])(
    'leaves %j as it is',
    (text) => {
      expect(isStorableText(text)).toBe(true);
      expect(toStorableText(text)).toBe(text);
    },
  );

  it.each([
    ['\0', '\uFFFD'],
    ['a\0b\0', 'a\uFFFDb\uFFFD'],
    ['\ud83d', '\uFFFD'],
    ['\ude42\ud83d', '\uFFFD\uFFFD'],
    ['🙂\ud83d🙂', '🙂\uFFFD🙂'],
  ])('makes of %j %j', (text, storable) => {
    expect(isStorableText(text)).toBe(false);
    expect(toStorableText(text)).toBe(storable);
  });

  it('has no NUL and no half of a pair, whatever the text was', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
        (text) => {
          const storable = toStorableText(text);
          // Half of a pair does not come back from UTF-8 as it was.
          expect(Buffer.from(storable).toString()).toBe(storable);
          expect(storable).not.toContain('\0');
          expect(toStorableText(storable)).toBe(storable);
          expect(storable === text).toBe(isStorableText(text));
        },
      ),
    );
  });
});
