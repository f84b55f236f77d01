import { describe, expect, it } from '@jest/globals';
import { afterAttempt, type DeliveryOutcome } from './delivery-outcome.js';

const NOW = new Date('2026-11-21T12:00:00Z');
const REFUSED = { kind: 'refused', status: 500, latencyMs: 12, retryAfterMs: undefined } as const;

function inMs(milliseconds: number): Date {
  return new Date(NOW.getTime() + milliseconds);
}

describe('afterAttempt', () => {
  it('completes a delivery that the receiver accepted', () => {
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

  it('retries a refused delivery, later each time', () => {
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

  it('records the status and the error of the rest of the answer', () => {
    const changes = afterAttempt({ ...REFUSED, error: 'too_large' }, 0, NOW, 0);
    expect(changes).toMatchObject({ status: 'pending', lastStatusCode: 500, lastError: 'too_large' });
  });

  it('retries a delivery without an answer and records the reason', () => {
    const changes = afterAttempt({ kind: 'unanswered', error: 'timeout', latencyMs: 15_000 }, 0, NOW, 0);
    expect(changes).toMatchObject({ status: 'pending', lastStatusCode: null, lastError: 'timeout' });
  });

  it('gives up after the tenth attempt', () => {
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
  ])('counts no attempt that was not sent: $error', (outcome) => {
    const changes = afterAttempt(outcome, 4, NOW, 0);
    expect(changes).toMatchObject({ status: 'failed', lastError: outcome.error, nextAttemptAt: null });
    expect(changes).not.toHaveProperty('attempts');
  });

  it('returns an abandoned delivery to the queue without counting an attempt', () => {
    expect(afterAttempt({ kind: 'abandoned' }, 4, NOW, 0)).toEqual({ claimId: null, nextAttemptAt: NOW });
  });
});
