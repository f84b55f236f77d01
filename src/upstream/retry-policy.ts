import { forbidsRetry, retryAfterMs } from './retry-after.js';
import { type RelayedAnswer, type RetryMode, UpstreamFailure } from './upstream.types.js';

const MAX_RETRIES = 2;
const BASE_DELAY_MS = 250;
const MAX_DELAY_MS = 4_000;
/** When a provider asks for a longer wait, the caller gets the answer at once and can wait itself: it sees `Retry-After`. */
const MAX_ASKED_MS = 5_000;

/** A finished attempt, and what decides about the next one. */
export interface RetryQuestion {
  readonly mode: RetryMode;
  /** Whether the attempt failed only by its signature, and the next one is signed with other credentials. */
  readonly isRenewed: boolean;
  readonly outcome: RelayedAnswer | UpstreamFailure;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Milliseconds until the deadline of the call. */
  readonly remainingMs: number;
  readonly nowMs: number;
  /** From 0 up to, not including, 1. */
  readonly random: number;
}

/**
 * Milliseconds to wait before the next attempt; undefined when there is none. Then the failure is permanent, the attempts
 * are used up, the provider asks for a long wait, or the deadline is too close.
 */
export function retryDelayMs(question: RetryQuestion): number | undefined {
  if (question.attempt > MAX_RETRIES) return undefined;
  if (question.isRenewed) return 0;
  if (!isRetryable(question.mode, question.outcome)) return undefined;
  const asked = askedDelayMs(question);
  if (asked > MAX_ASKED_MS) return undefined;
  const delay = Math.max(backOffMs(question), asked);
  return delay < question.remainingMs ? delay : undefined;
}

function isRetryable(mode: RetryMode, outcome: RelayedAnswer | UpstreamFailure): boolean {
  if (mode === 'never') return false;
  if (!(outcome instanceof UpstreamFailure)) {
    return mode !== 'connect' && isTransientStatus(outcome.status) && !forbidsRetry(outcome.headers);
  }
  if (outcome.isPartial) return false;
  if (outcome.kind === 'connect') return true;
  return mode === 'idempotent' && (outcome.kind === 'broken' || outcome.kind === 'incomplete');
}

/** 501 and 505 say that the provider lacks the method or the HTTP version: the request will never work (RFC 9110, 15.6). */
function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 505);
}

/** Exponential back-off with full jitter, so that clients which failed together do not retry together. */
function backOffMs({ attempt, random }: RetryQuestion): number {
  return random * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
}

function askedDelayMs({ outcome, nowMs }: RetryQuestion): number {
  return outcome instanceof UpstreamFailure ? 0 : (retryAfterMs(outcome.headers, nowMs) ?? 0);
}
