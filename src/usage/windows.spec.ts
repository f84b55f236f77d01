import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayPeriodOf, everyDays, windowAt } from './windows.js';

const at = (text: string): Date => new Date(text);

it('never restarts a window without a period', () => {
  expect(windowAt(null, at('2026-11-21T09:00:00Z'))).toEqual({ id: 'cum', resetsAt: undefined });
});

describe('a month', () => {
  it.each([
    ['2026-11-01T00:00:00.000Z', '2026-11', '2026-12-01T00:00:00Z'],
    ['2026-11-30T23:59:59.999Z', '2026-11', '2026-12-01T00:00:00Z'],
    ['2026-12-31T23:59:59.999Z', '2026-12', '2027-01-01T00:00:00Z'],
    ['2027-01-01T00:00:00.000Z', '2027-01', '2027-02-01T00:00:00Z'],
    ['2028-02-29T23:59:59.999Z', '2028-02', '2028-03-01T00:00:00Z'],
    ['2100-02-28T12:00:00.000Z', '2100-02', '2100-03-01T00:00:00Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12', '+010000-01-01T00:00:00Z'],
    ['0050-06-15T00:00:00.000Z', '0050-06', '0050-07-01T00:00:00Z'],
  ])('%s lies in the month %s', (now, id, end) => {
    expect(windowAt('monthly', at(now))).toEqual({ id, resetsAt: at(end) });
  });

  it('starts a month by UTC, whatever the local hour', () => {
    expect(windowAt('monthly', at('2026-12-01T01:30:00+02:00')).id).toBe('2026-11');
    expect(windowAt('monthly', at('2026-11-30T20:00:00-05:00')).id).toBe('2026-12');
  });
});

describe('a week', () => {
  it.each([
    // Sunday's last and Monday's first millisecond.
    ['2026-11-22T23:59:59.999Z', '2026-W47', '2026-11-23T00:00:00Z'],
    ['2026-11-23T00:00:00.000Z', '2026-W48', '2026-11-30T00:00:00Z'],
    // 2026 has 53 weeks, the last of which ends in 2027.
    ['2026-12-31T23:59:59.999Z', '2026-W53', '2027-01-04T00:00:00Z'],
    ['2027-01-01T00:00:00.000Z', '2026-W53', '2027-01-04T00:00:00Z'],
    ['2027-01-04T00:00:00.000Z', '2027-W01', '2027-01-11T00:00:00Z'],
    // The first week of 2025 begins in 2024.
    ['2024-12-29T23:59:59.999Z', '2024-W52', '2024-12-30T00:00:00Z'],
    ['2024-12-30T00:00:00.000Z', '2025-W01', '2025-01-06T00:00:00Z'],
    ['2022-01-02T12:00:00.000Z', '2021-W52', '2022-01-03T00:00:00Z'],
    ['2021-01-03T12:00:00.000Z', '2020-W53', '2021-01-04T00:00:00Z'],
    ['2028-02-29T12:00:00.000Z', '2028-W09', '2028-03-06T00:00:00Z'],
    ['9999-12-31T23:59:59.999Z', '9999-W52', '+010000-01-03T00:00:00Z'],
    ['1969-12-31T12:00:00.000Z', '1970-W01', '1970-01-05T00:00:00Z'],
  ])('%s lies in the week %s', (now, id, end) => {
    expect(windowAt('weekly', at(now))).toEqual({ id, resetsAt: at(end) });
  });
});

describe.each(['weekly', 'monthly'] as const)('%s windows', (kind) => {
  const moments = fc.date({ min: at('1970-01-05T00:00:00Z'), max: at('9998-01-01T00:00:00Z'), noInvalidDate: true });

  it('ends a window at the first moment of the next one, without a gap', () => {
    fc.assert(
      fc.property(moments, (now) => {
        const { id, resetsAt = now } = windowAt(kind, now);
        expect(resetsAt.getTime()).toBeGreaterThan(now.getTime());
        expect(windowAt(kind, new Date(resetsAt.getTime() - 1))).toEqual({ id, resetsAt });
        expect(windowAt(kind, resetsAt).id).not.toBe(id);
      }),
    );
  });

  it('names windows so that they sort by time', () => {
    fc.assert(
      fc.property(moments, (now) => {
        const { id, resetsAt = now } = windowAt(kind, now);
        expect(windowAt(kind, resetsAt).id > id).toBe(true);
      }),
    );
  });
});

describe('a number of days', () => {
  const tenDays = everyDays(10, at('2026-11-26T13:00:00Z'));

  it.each([
    ['2026-11-26T00:00:00.000Z', '2026-11-26+10', '2026-12-06T00:00:00Z'],
    ['2026-12-05T23:59:59.999Z', '2026-11-26+10', '2026-12-06T00:00:00Z'],
    ['2026-12-06T00:00:00.000Z', '2026-12-06+10', '2026-12-16T00:00:00Z'],
    // A clock that was set back.
    ['2026-11-25T23:59:59.999Z', '2026-11-16+10', '2026-11-26T00:00:00Z'],
  ])('counts from the day on which it was set: %s lies in %s', (now, id, end) => {
    expect(windowAt(tenDays, at(now))).toEqual({ id, resetsAt: at(end) });
  });

  it('fits into the column of the window, also for a year', () => {
    const year = everyDays(365, at('2026-11-26T13:00:00Z'));
    expect(windowAt(year, at('2031-01-01T00:00:00Z')).id.length).toBeLessThanOrEqual(16);
    expect(dayPeriodOf(year)).toEqual({ days: 365, from: at('2026-11-26T00:00:00Z') });
  });

  it.each([null, 'monthly', 'daily', '0d@20261126', '1000d@20261126', '10d@2026', '10d@20261399'])(
    'does not read %s as a number of days',
    (text) => expect(dayPeriodOf(text)).toBeUndefined(),
  );
});
