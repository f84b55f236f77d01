import { describe, expect, it } from '@jest/globals';
import { afterAttempt, type DeliveryOutcome } from './delivery-outcome.js';

const NOW = new Date('2026-11-21T12:00:00Z');
const REFUSED = { kind: 'refused', status: 500, latencyMs: 12, retryAfterMs: undefined } as const;

function inMs(milliseconds: number): Date {
  return new Date(NOW.getTime() + milliseconds);
}

describe('afterAttempt', () => {
  it('completes what was accepted', () => {
    expect(afterAttempt({ kind: 'accepted', status: 200, latencyMs: 7 }, 2, NOW, 0)).toEqual({
      status: 'succeeded',
      attempts: 3,
      nextAttemptAt: null,
      claimId: null,
      completedAt: NOW,
      lastAttemptAt: NOW,
      lastStatusCode: 200,
      lastError: null,
      lastLatencyMs: 7,
    });
  });

  it('gives up at once when the receiver is gone', () => {
    const changes = afterAttempt({ kind: 'gone', status: 410, latencyMs: 7 }, 0, NOW, 0);
    expect(changes).toMatchObject({ status: 'failed', attempts: 1, nextAttemptAt: null, lastStatusCode: 410 });
  });

  it('tries again what was refused, later each time', () => {
    expect(afterAttempt(REFUSED, 0, NOW, 0)).toMatchObject({
      status: 'pending',
      attempts: 1,
      claimId: null,
      nextAttemptAt: inMs(5_000),
      lastStatusCode: 500,
    });
    expect(afterAttempt(REFUSED, 1, NOW, 1)).toMatchObject({ attempts: 2, nextAttemptAt: inMs(360_000) });
    const asked = { ...REFUSED, status: 429, retryAfterMs: 3_600_000 };
    expect(afterAttempt(asked, 0, NOW, 0)).toMatchObject({ nextAttemptAt: inMs(3_600_000) });
  });

  it('notes the status and what was wrong with the rest', () => {
    const changes = afterAttempt({ ...REFUSED, error: 'too_large' }, 0, NOW, 0);
    expect(changes).toMatchObject({ status: 'pending', lastStatusCode: 500, lastError: 'too_large' });
  });

  it('tries again what got no answer, and notes why', () => {
    const changes = afterAttempt({ kind: 'unanswered', error: 'timeout', latencyMs: 15_000 }, 0, NOW, 0);
    expect(changes).toMatchObject({ status: 'pending', lastStatusCode: null, lastError: 'timeout' });
  });

  it('gives up with the tenth attempt', () => {
    expect(afterAttempt(REFUSED, 8, NOW, 0)).toMatchObject({ status: 'pending', attempts: 9 });
    expect(afterAttempt(REFUSED, 9, NOW, 0)).toMatchObject({
      status: 'failed',
      attempts: 10,
      nextAttemptAt: null,
      completedAt: NOW,
    });
  });

  it.each<DeliveryOutcome & { kind: 'hopeless' }>([
    { kind: 'hopeless', error: 'endpoint_disabled' },
    { kind: 'hopeless', error: 'event_too_large' },
  ])('counts nothing that was not sent: $error', (outcome) => {
    const changes = afterAttempt(outcome, 4, NOW, 0);
    expect(changes).toMatchObject({ status: 'failed', lastError: outcome.error, nextAttemptAt: null });
    expect(changes).not.toHaveProperty('attempts');
  });

  it('hands back what was abandoned, as if nothing had been', () => {
    expect(afterAttempt({ kind: 'abandoned' }, 4, NOW, 0)).toEqual({ claimId: null, nextAttemptAt: NOW });
  });
});
