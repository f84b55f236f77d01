import { GatewayError } from '../common/errors/gateway.error.js';
import type { CallDeadline } from './call-deadline.js';
import { retryDelayMs } from './retry-policy.js';
import {
  UpstreamFailure,
  type AttemptObserver,
  type RelayedAnswer,
  type UpstreamAttempt,
  type UpstreamCall,
  type UpstreamRequest,
} from './upstream.types.js';

export interface RetryClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

type Outcome = RelayedAnswer | UpstreamFailure;

/** What the loop needs of a call. */
type RepeatableCall = Pick<UpstreamCall, 'request' | 'retry' | 'attemptsMade' | 'signer' | 'observers'>;

const NO_OBSERVERS: readonly AttemptObserver[] = [];

/** Tries until an answer is final or no further attempt makes sense; returns the last answer, or throws the last failure. */
export async function sendWithRetries(
  call: RepeatableCall,
  limits: CallDeadline,
  clock: RetryClock,
  attempt: (request: UpstreamRequest) => Promise<RelayedAnswer>,
): Promise<RelayedAnswer> {
  const { signer, observers = NO_OBSERVERS } = call;
  let last: Outcome | undefined;
  let delayMs: number | undefined = 0;
  let wasRenewed = false;
  for (let number = (call.attemptsMade ?? 0) + 1; ; number += 1) {
    let request: UpstreamRequest;
    try {
      if (delayMs > 0) await limits.sleep(delayMs);
      request = signer ? await limits.race(signer.sign(call.request, new Date(clock.now()))) : call.request;
    } catch (error) {
      if (last === undefined || !isTimeout(error)) throw error;
      return resultOf(last);
    }
    try {
      for (const observer of observers) {
        const asked = observer.before?.(number);
        if (asked !== undefined) await asked;
      }
    } catch (refusal) {
      // Anything else is a defect, and goes up instead of being lost behind the last answer.
      if (last === undefined || !(refusal instanceof GatewayError)) throw refusal;
      return resultOf(last);
    }

    if (!limits.expired) for (const observer of observers) observer.started?.();
    const startedAt = performance.now();
    let outcome: Outcome;
    try {
      outcome = await attempt(request);
    } catch (error) {
      outcome = failureOnly(error);
    }
    const attempted = toAttempt(number, performance.now() - startedAt, outcome);
    for (const observer of observers) observer.after?.(attempted);

    // The deadline came before the retry was sent: it was not made.
    if (last !== undefined && isTimeout(outcome) && !outcome.wasSent) return resultOf(last);

    const isRenewed: boolean = !wasRenewed && isAnswer(outcome) && signer?.renew?.(outcome) === true;
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

function isAnswer(outcome: Outcome): outcome is RelayedAnswer {
  return !(outcome instanceof UpstreamFailure);
}

function isTimeout(value: unknown): value is UpstreamFailure {
  return value instanceof UpstreamFailure && value.kind === 'timeout';
}

/** A failure is an outcome to decide on; any other error is a defect and goes up at once. */
function failureOnly(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  throw error;
}

function toAttempt(number: number, durationMs: number, outcome: Outcome): UpstreamAttempt {
  return outcome instanceof UpstreamFailure
    ? { number, durationMs, wasSent: outcome.wasSent, failure: outcome.kind }
    : { number, durationMs, wasSent: true, status: outcome.status };
}
