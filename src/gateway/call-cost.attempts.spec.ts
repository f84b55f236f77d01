import { describe, expect, it } from '@jest/globals';
import type { UpstreamFailureKind } from '../upstream/upstream.types.js';
import { type AttemptResult, outcomeOfAttempt } from './call-cost.js';

const ATTEMPT = { number: 1, durationMs: 5 } as const;

describe('outcomeOfAttempt', () => {
  it.each<[number, AttemptResult]>([
    [200, 'answered'],
    [204, 'answered'],
    [304, 'free'],
    [400, 'free'],
    [408, 'free'],
    [429, 'free'],
    [500, 'free'],
    [504, 'free'],
  ])('maps status %i of an attempt to %s', (status, outcome) => {
    expect(outcomeOfAttempt({ ...ATTEMPT, wasSent: true, status })).toBe(outcome);
  });

  it.each<[UpstreamFailureKind, AttemptResult]>([
    ['connect', 'nothing_sent'],
    ['refused_by_egress', 'nothing_sent'],
    ['redirect', 'free'],
    ['broken', 'unknown'],
    ['incomplete', 'unknown'],
    ['timeout', 'unknown'],
    ['interim', 'unknown'],
    ['too_large', 'unknown'],
    ['caller_gone', 'unknown'],
  ])('maps a failed attempt of kind %s to %s', (failure, outcome) => {
    expect(outcomeOfAttempt({ ...ATTEMPT, wasSent: true, failure })).toBe(outcome);
  });

  it.each<UpstreamFailureKind>(['timeout', 'caller_gone', 'connect'])(
    'counts nothing for %s before the attempt was sent',
    (failure) => {
      expect(outcomeOfAttempt({ ...ATTEMPT, wasSent: false, failure })).toBe('nothing_sent');
    },
  );
});
