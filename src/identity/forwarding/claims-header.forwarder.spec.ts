import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from '../../../test/support/any-character.js';
import { toHeaderJson } from './claims-header.forwarder.js';

describe('toHeaderJson', () => {
  it.each([
    'José',
    '世界',
    '😀',
    '"quotes"',
    'back\\slash',
    'line\nbreak\r',
    'nul\0',
    'del\u007f',
    'nbsp\u00a0',
    '\u2028',
  ])('encodes %j in printable ASCII that parses back', (text) => {
    const json = toHeaderJson({ [text]: text });
    expect(json).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(json)).toEqual({ [text]: text });
  });

  it('encodes every JSON value', () => {
    const anything = fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue({ stringUnit: anyCharacter }));
    fc.assert(
      fc.property(anything, (value) => {
        const json = toHeaderJson(value);
        expect(json).toMatch(/^[\x20-\x7e]+$/);
        expect(JSON.stringify(JSON.parse(json))).toBe(JSON.stringify(value));
      }),
    );
  });
});
