import { expect, it } from '@jest/globals';
import { Departure } from './caller-presence.js';

it('a departure is told once to all who listen, and at once to whoever listens later', () => {
  const told: string[] = [];
  const departure = new Departure();
  departure.onGone(() => told.push('early'));
  departure.onGone(() => told.push('not interested any more'))();
  expect([departure.gone, told]).toEqual([false, []]);
  departure.leave();
  departure.leave();
  expect([departure.gone, told]).toEqual([true, ['early']]);
  departure.onGone(() => told.push('late'))();
  expect(told).toEqual(['early', 'late']);
});
