import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isStorableText, storableTexts, toStorableText } from './storable-text.js';

/** Text with half surrogate pairs and NUL. */
const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });

describe('storable text', () => {
  it.each(['', 'plain', 'a\u0001\u007f\u0085\n', 'Zürich', '检索', '🙂', '\uFFFD', '\uFFFF'])(
    'does not change %j',
    (text) => {
      expect(isStorableText(text)).toBe(true);
      expect(toStorableText(text, 255)).toBe(text);
    },
  );

  it.each([
    ['\0', '\uFFFD'],
    ['a\0b\0', 'a\uFFFDb\uFFFD'],
    ['\ud83d', '\uFFFD'],
    ['\ude42\ud83d', '\uFFFD\uFFFD'],
    ['🙂\ud83d🙂', '🙂\uFFFD🙂'],
  ])('turns %j into %j', (text, storable) => {
    expect(isStorableText(text)).toBe(false);
    expect(toStorableText(text, 255)).toBe(storable);
  });

  it('removes NUL and unpaired surrogates from any text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const storable = toStorableText(text, 255);
        // UTF-8 does not preserve half of a surrogate pair.
        expect(Buffer.from(storable).toString()).toBe(storable);
        expect(storable).not.toContain('\0');
        expect(toStorableText(storable, 255)).toBe(storable);
        expect(storable === text).toBe(isStorableText(text));
      }),
    );
  });

  it.each([
    ['short', 'short'],
    ['exactly ten', 'exactly te'],
    ['\u{1F600}'.repeat(12), '\u{1F600}'.repeat(10)],
    ['a' + '\u{1F600}'.repeat(12), 'a' + '\u{1F600}'.repeat(9)],
    [`nine char${'\u{1F600}'.repeat(2)}`, 'nine char\u{1F600}'],
    ['NUL\0 and more', 'NUL\uFFFD and m'],
    ['half\uD83D and more', 'half\uFFFD and '],
  ])('cuts %j to %j', (text, expected) => expect(toStorableText(text, 10)).toBe(expected));

  it('cuts any text to a beginning that fits', () => {
    fc.assert(
      fc.property(anyText, fc.integer({ min: 1, max: 20 }), (text, length) => {
        const fitting = toStorableText(text, length);
        expect(isStorableText(fitting)).toBe(true);
        expect(fitting).toBe(Array.from(toStorableText(text, 255)).slice(0, length).join(''));
      }),
    );
  });

  it('returns an object of storable texts itself, and makes another one where a name or a value would be refused', () => {
    const texts = { team: 'search', user: 'Zürich' };
    expect(storableTexts(texts, 10)).toBe(texts);
    expect(storableTexts({ ...texts, 'a\0': 'half\uD83D and more', long: 'exactly ten' }, 10)).toEqual({
      ...texts,
      'a\uFFFD': 'half\uFFFD and ',
      long: 'exactly te',
    });
  });
});
