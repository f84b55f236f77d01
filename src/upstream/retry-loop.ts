import { GatewayError } from '../common/errors/gateway.error.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import type { CallDeadline } from './call-deadline.js';
import {
  UpstreamFailure,
  type AttemptObserver,
  type RelayedAnswer,
  type UpstreamAttempt,
  type UpstreamCall,
  type UpstreamRequest,
  type RetryMode,
} from './upstream.types.js';
import { forbidsRetry, retryAfterMs } from './retry-after.js';
import type { ConnectionShare } from './origin-pools.js';

export interface RetryClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

type Outcome = RelayedAnswer | UpstreamFailure;

/** What the loop needs of a call. */
type RepeatableCall = Pick<UpstreamCall, 'request' | 'retry' | 'attemptsMade' | 'signer' | 'observers'>;

const NO_OBSERVERS: readonly AttemptObserver[] = [];

/** How an attempt gets its connection, and is sent on it. */
export interface AttemptSender {
  /**
   * undefined: it needs none, since it will not be sent.
   * @throws UpstreamFailure `busy`, or how the call ended meanwhile
   */
  connect(): MaybePromise<ConnectionShare | undefined>;
  /** Releases the connection. */
  send(request: UpstreamRequest, connection: ConnectionShare | undefined): Promise<RelayedAnswer>;
}

/** Tries until an answer is final or no further attempt makes sense; returns the last answer, or throws the last failure. */
export async function sendWithRetries(
  call: RepeatableCall,
  limits: CallDeadline,
  clock: RetryClock,
  sender: AttemptSender,
): Promise<RelayedAnswer> {
  const { signer, observers = NO_OBSERVERS } = call;
  let last: Outcome | undefined;
  let delayMs: number | undefined = 0;
  let wasRenewed = false;
  for (let number = (call.attemptsMade ?? 0) + 1; ; number += 1) {
    let request: UpstreamRequest;
    let connection: ConnectionShare | undefined;
    try {
      if (delayMs > 0) await limits.sleep(delayMs);
      request = signer ? await limits.race(signer.sign(call.request, new Date(clock.now()))) : call.request;
      const connected = sender.connect();
      connection = connected instanceof Promise ? await observed(connected, observers) : connected;
    } catch (error) {
      if (last === undefined || !isOutOfTime(error)) throw error;
      return resultOf(last);
    }
    try {
      for (const observer of observers) {
        const asked = observer.before?.(number);
        if (asked !== undefined) await asked;
      }
    } catch (refusal) {
      connection?.release();
      // Anything else is a defect, and goes up instead of being lost behind the last answer.
      if (last === undefined || !(refusal instanceof GatewayError)) throw refusal;
      return resultOf(last);
    }

    if (!limits.expired) for (const observer of observers) observer.started?.();
    const startedAt = performance.now();
    let outcome: Outcome;
    try {
      outcome = await sender.send(request, connection);
    } catch (error) {
      outcome = failureOnly(error);
    }
    const durationMs = performance.now() - startedAt;
    const attempted: UpstreamAttempt =
      outcome instanceof UpstreamFailure
        ? { number, durationMs, wasSent: outcome.wasSent, failure: outcome.kind }
        : { number, durationMs, wasSent: true, status: outcome.status };
    for (const observer of observers) observer.after?.(attempted);

    // Most answers are final.
    if (!(outcome instanceof UpstreamFailure) && outcome.status < 300) return outcome;
    // The deadline came before the retry was sent: it was not made.
    if (last !== undefined && isTimeout(outcome) && !outcome.wasSent) return resultOf(last);

    const isRenewed: boolean =
      !wasRenewed && !(outcome instanceof UpstreamFailure) && signer?.renew?.(outcome) === true;
    wasRenewed ||= isRenewed;
    delayMs = retryDelayMs({
      mode: call.retry,
      isRenewed,
      outcome,
      attempt: number,
      remainingMs: limits.remainingMs,
      nowMs: clock.now(),
      random: clock.random(),
    });
    if (delayMs === undefined) return resultOf(outcome);
    last = outcome;
  }
}

function resultOf(outcome: Outcome): RelayedAnswer {
  if (outcome instanceof UpstreamFailure) throw outcome;
  return outcome;
}

/** The wait for a connection, before the attempt begins. */
async function observed<T>(wait: Promise<T>, observers: readonly AttemptObserver[]): Promise<T> {
  const startedAt = performance.now();
  try {
    return await wait;
  } finally {
    const waitedMs = performance.now() - startedAt;
    for (const observer of observers) observer.waited?.(waitedMs);
  }
}

/** The attempt was not begun in time. */
function isOutOfTime(error: unknown): boolean {
  return isTimeout(error) || (error instanceof UpstreamFailure && error.kind === 'busy');
}

function isTimeout(value: unknown): value is UpstreamFailure {
  return value instanceof UpstreamFailure && value.kind === 'timeout';
}

/** A failure is an outcome to decide on; any other error is a defect and goes up at once. */
function failureOnly(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  throw error;
}

const MAX_RETRIES = 2;
const BASE_DELAY_MS = 250;
const MAX_DELAY_MS = 4_000;
/** Where a provider asks for more, the caller has its answer at once and can wait better: it sees `Retry-After`. */
const MAX_ASKED_MS = 5_000;

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
 * passes, the attempts are used up, the provider asks for a long wait, or the deadline would come before the next attempt.
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
    return mode !== 'connect' && isPassingStatus(outcome.status) && !forbidsRetry(outcome.headers);
  }
  if (outcome.isPartial) return false;
  if (outcome.kind === 'connect') return true;
  return mode === 'idempotent' && (outcome.kind === 'broken' || outcome.kind === 'incomplete');
}

/** 501 and 505 say that the provider lacks the method or the HTTP version: the request will never work (RFC 9110, 15.6). */
function isPassingStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501 && status !== 505);
}

/** Full jitter: evenly spread from zero up to the exponential bound, so that clients which failed together do not return together. */
function backOffMs({ attempt, random }: RetryQuestion): number {
  return random * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
}

function askedDelayMs({ outcome, nowMs }: RetryQuestion): number {
  return outcome instanceof UpstreamFailure ? 0 : (retryAfterMs(outcome.headers, nowMs) ?? 0);
}
