import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toHeaderJson } from './claims-header.forwarder.js';

describe('JSON for a header', () => {
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
  ])('holds %j in printable ASCII, and parses back', (text) => {
    const json = toHeaderJson({ [text]: text });
    expect(json).toMatch(/^[\x20-\x7e]+$/);
    expect(JSON.parse(json)).toEqual({ [text]: text });
  });

  it('holds whatever JSON can', () => {
    const anything = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ stringUnit: 'binary' }));
    fc.assert(
      fc.property(anything, (value) => {
        const json = toHeaderJson(value);
        expect(json).toMatch(/^[\x20-\x7e]+$/);
        expect(JSON.stringify(JSON.parse(json))).toBe(JSON.stringify(value));
      }),
    );
  });
});
