import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isMaskOf, isStaleMask, mask } from './mask.js';

describe('mask', () => {
  it('shows the end of a long secret, so that two can be distinguished', () => {
    expect(mask('sk-0123456789abcdef')).toBe('****cdef');
  });

  it.each(['', 'short', '0123456789abcde'])('shows nothing of the short secret %j', (secret) => {
    expect(mask(secret)).toBe('****');
  });

  it('never shows more than four characters or the length of a secret', () => {
    fc.assert(fc.property(fc.string(), (secret) => mask(secret).length <= 8));
    expect(mask('a'.repeat(20)).length).toBe(mask('a'.repeat(2_000)).length);
  });
});

describe('isMaskOf', () => {
  it('recognises the mask of the stored secret', () => {
    fc.assert(fc.property(fc.string(), (secret) => isMaskOf(mask(secret), secret)));
  });

  it.each([
    ['****wxyz', 'sk-0123456789abcdef'],
    ['****', 'sk-0123456789abcdef'],
    ['****cdef', undefined],
    ['****', undefined],
    [undefined, 'sk-0123456789abcdef'],
    [null, 'short'],
    ['sk-0123456789abcdef', 'sk-0123456789abcdef'],
  ])('treats %j as a new value when %j is stored', (value, secret) => expect(isMaskOf(value, secret)).toBe(false));
});

describe('isStaleMask', () => {
  it.each([
    ['****wxyz', 'sk-0123456789abcdef'],
    ['****', 'sk-0123456789abcdef'],
    ['****cdef', undefined],
    ['****', undefined],
    ['****cdef', '****cdef'],
  ])('recognises %j as the mask of another secret when %j is stored', (value, secret) => {
    expect(isStaleMask(value, secret)).toBe(true);
  });

  it.each(['****0000-no-mask', '***cdef', 'sk-****cdef', '*', '', null, undefined, 4])(
    'does not treat %j as a mask',
    (value) => expect(isStaleMask(value, 'sk-0123456789abcdef')).toBe(false),
  );

  it('recognises every mask except that of the stored secret', () => {
    const isKnown = (shown: string, stored: string): boolean =>
      isStaleMask(mask(shown), stored) === (mask(shown) !== mask(stored));
    fc.assert(fc.property(fc.string(), fc.string(), isKnown));
  });
});
