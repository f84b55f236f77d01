import { expect, it } from '@jest/globals';
import { isoTexts } from './iso-text.js';

it('writes times as JSON has them, whatever came before', () => {
  const isoText = isoTexts();
  const now = Date.UTC(2026, 10, 24, 12, 0, 0, 7);
  for (const time of [now, now, now + 1, now, 0, 0, -1]) expect(isoText(time)).toBe(new Date(time).toJSON());
});

it('refuses what is no time', () => {
  expect(() => isoTexts()(Number.NaN)).toThrow(RangeError);
});
