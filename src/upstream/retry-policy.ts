import { forbidsRetry, retryAfterMs } from './retry-after.js';
import { UpstreamFailure, type RetryMode, type RelayedAnswer } from './upstream.types.js';

const MAX_RETRIES = 2;
const BASE_DELAY_MS = 250;
const MAX_DELAY_MS = 4_000;

/** An attempt that is over, and what there is to go by. */
export interface RetryQuestion {
  readonly mode: RetryMode;
  /** Only its signature was refused, and the next attempt has another one. */
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
 * Milliseconds to wait before the next attempt; undefined when this outcome is the last: it is not of the kind that
 * passes, the attempts are used up, or the deadline would come before the next attempt.
 */
export function retryDelayMs(question: RetryQuestion): number | undefined {
  if (question.attempt > MAX_RETRIES) return undefined;
  if (question.isRenewed) return 0;
  if (!isRetryable(question.mode, question.outcome)) return undefined;
  const delay = Math.max(backOffMs(question), askedDelayMs(question));
  return delay < question.remainingMs ? delay : undefined;
}

function isRetryable(mode: RetryMode, outcome: RelayedAnswer | UpstreamFailure): boolean {
  if (mode === 'never') return false;
  if (!(outcome instanceof UpstreamFailure)) {
    return mode === 'idempotent' && isPassingStatus(outcome.status) && !forbidsRetry(outcome.headers);
  }
  if (outcome.isPartial) return false;
  if (outcome.kind === 'connect') return true;
  return mode === 'idempotent' && (outcome.kind === 'broken' || outcome.kind === 'incomplete');
}

/** 501 and 505 say that the provider lacks the method or the HTTP version: the request will never work (RFC 9110, 15.6). */
function isPassingStatus(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status !== 501 && status !== 505);
}

/** Full jitter: evenly spread from zero up to the exponential bound, so that clients which failed together do not return together. */
function backOffMs({ attempt, random }: RetryQuestion): number {
  return random * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
}

function askedDelayMs({ outcome, nowMs }: RetryQuestion): number {
  return outcome instanceof UpstreamFailure ? 0 : (retryAfterMs(outcome.headers, nowMs) ?? 0);
}
