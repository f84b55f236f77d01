import { expect, it } from '@jest/globals';
import { AbortableClient } from './client-connection.js';

it('AbortableClient calls each listener once, and later listeners immediately', () => {
  const told: string[] = [];
  const departure = new AbortableClient();
  departure.onAbort(() => told.push('early'));
  departure.onAbort(() => told.push('not interested any more'))();
  expect([departure.aborted, told]).toEqual([false, []]);
  departure.abort();
  departure.abort();
  expect([departure.aborted, told]).toEqual([true, ['early']]);
  departure.onAbort(() => told.push('late'))();
  expect(told).toEqual(['early', 'late']);
});
