import { assertNever } from '../common/assert-never.js';
import type { UpstreamFailureKind } from '../upstream/upstream.types.js';
import type { WebhookDelivery } from './webhook-delivery.entity.js';

/** What became of one attempt at a delivery. */
export type DeliveryOutcome =
  | { readonly kind: 'accepted'; readonly status: number; readonly latencyMs: number }
  /** 410: the receiver wants nothing any more. */
  | { readonly kind: 'gone'; readonly status: number; readonly latencyMs: number }
  | {
      readonly kind: 'refused';
      readonly status: number;
      /** Why the answer was not all there. */
      readonly error?: UnansweredReason | undefined;
      readonly latencyMs: number;
      readonly retryAfterMs: number | undefined;
    }
  | { readonly kind: 'unanswered'; readonly error: UnansweredReason; readonly latencyMs: number }
  /** Nothing was sent, and nothing ever will be. */
  | { readonly kind: 'hopeless'; readonly error: 'endpoint_disabled' | 'event_too_large' }
  /** The gateway stops: another one should try at once. */
  | { readonly kind: 'abandoned' };

export type UnansweredReason = UpstreamFailureKind | 'secret_unavailable' | 'internal_error';

type Changes = Partial<WebhookDelivery>;

/**
 * The columns of a delivery after an attempt that is over.
 * @param attempts that it had before
 * @param random from 0 to 1
 */
export function afterAttempt(outcome: DeliveryOutcome, attempts: number, now: Date, random: number): Changes {
  switch (outcome.kind) {
    case 'accepted':
      return { ...attempted(outcome, attempts, now), ...completed('succeeded', now) };
    case 'gone':
      return { ...attempted(outcome, attempts, now), ...completed('failed', now) };
    case 'refused':
      return { ...attempted(outcome, attempts, now), ...next(attempts + 1, outcome.retryAfterMs, now, random) };
    case 'unanswered':
      return { ...attempted(outcome, attempts, now), ...next(attempts + 1, undefined, now, random) };
    case 'hopeless':
      return { ...completed('failed', now), lastError: outcome.error };
    case 'abandoned':
      return { claimId: null, nextAttemptAt: now };
    default:
      return assertNever(outcome);
  }
}

interface Attempted {
  readonly status?: number;
  readonly error?: UnansweredReason | undefined;
  readonly latencyMs: number;
}

function attempted({ status, error, latencyMs }: Attempted, before: number, now: Date): Changes {
  return {
    attempts: before + 1,
    lastAttemptAt: now,
    lastStatusCode: status ?? null,
    lastError: error ?? null,
    lastLatencyMs: latencyMs,
  };
}

function completed(status: 'succeeded' | 'failed', now: Date): Changes {
  return { status, claimId: null, nextAttemptAt: null, completedAt: now };
}

function next(failed: number, retryAfterMs: number | undefined, now: Date, random: number): Changes {
  const waitMs = retryWaitMs(failed, retryAfterMs, random);
  if (waitMs === undefined) return completed('failed', now);
  return { status: 'pending', claimId: null, nextAttemptAt: new Date(now.getTime() + waitMs) };
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Waits before each attempt, each from the end of the attempt before: the schedule that Standard Webhooks recommends. */
const WAITS_MS: readonly number[] = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

export const MAX_ATTEMPTS = WAITS_MS.length;

/** Share of a wait that chance adds, so that what failed together does not come back together. */
const JITTER = 0.2;
/** A receiver may ask for more time than the schedule gives, up to this limit. */
const LONGEST_RETRY_AFTER_MS = 24 * HOUR_MS;

/**
 * Milliseconds until the next attempt; undefined when there is none.
 * @param attempts that have failed so far
 * @param random from 0 to 1
 */
export function retryWaitMs(attempts: number, retryAfterMs: number | undefined, random: number): number | undefined {
  const scheduledMs = WAITS_MS[attempts];
  if (scheduledMs === undefined) return undefined;
  const askedMs = Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
  return Math.max(scheduledMs * (1 + JITTER * random), askedMs);
}
