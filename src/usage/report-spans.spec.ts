import { randomInt } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { type ReportSpan, spansOf } from './report-spans.js';

const HOUR = 3_600_000;
const at = (time: string): Date => new Date(`2026-11-${time}Z`);
const spanOf = (source: ReportSpan['source'], from: string, to: string): ReportSpan => ({
  source,
  from: at(from),
  to: at(to),
});

describe('the sources of a report', () => {
  it('are days, hours beside them, and the ledger at both ends', () => {
    expect(spansOf(at('01T10:20:00'), at('04T03:00:01'), 'day')).toEqual([
      spanOf('ledger', '01T10:20:00', '01T11:00:00'),
      spanOf('hours', '01T11:00:00', '02T00:00:00'),
      spanOf('days', '02T00:00:00', '04T00:00:00'),
      spanOf('hours', '04T00:00:00', '04T03:00:00'),
      spanOf('notes', '01T11:00:00', '04T03:00:00'),
      spanOf('ledger', '04T03:00:00', '04T03:00:01'),
    ]);
  });

  it('have no days where a report is by hour', () => {
    expect(spansOf(at('01T00:00:00'), at('04T00:00:00'), 'hour')).toEqual([
      spanOf('hours', '01T00:00:00', '04T00:00:00'),
      spanOf('notes', '01T00:00:00', '04T00:00:00'),
    ]);
  });

  it.each([
    ['01T10:20:00', '01T10:50:00'],
    ['01T10:20:00', '01T11:50:00'],
  ])('are the ledger alone where there is no whole hour, from %s to %s', (from, to) => {
    expect(spansOf(at(from), at(to), 'day')).toEqual([spanOf('ledger', from, to)]);
  });

  it('cover each instant once', () => {
    for (let count = 0; count < 500; count += 1) {
      const from = new Date(Date.UTC(2026, 10, 1) + randomInt(48 * HOUR));
      const to = new Date(from.getTime() + 1 + randomInt(72 * HOUR));
      const spans = spansOf(from, to, 'day').filter(({ source }) => source !== 'notes');
      expect(spans[0]?.from).toEqual(from);
      expect(spans.at(-1)?.to).toEqual(to);
      spans.slice(1).forEach((span, index) => expect(span.from).toEqual(spans[index]?.to));
    }
  });
});
