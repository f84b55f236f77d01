import { expect, it } from '@jest/globals';
import { isoTexts } from './clock.js';

it('isoTexts writes each time as JSON does, whatever the previous time was', () => {
  const isoText = isoTexts();
  const now = Date.UTC(2026, 10, 24, 12, 0, 0, 7);
  for (const time of [now, now, now + 1, now, 0, 0, -1]) expect(isoText(time)).toBe(new Date(time).toJSON());
});

it('isoTexts refuses an invalid time', () => {
  expect(() => isoTexts()(Number.NaN)).toThrow(RangeError);
});
