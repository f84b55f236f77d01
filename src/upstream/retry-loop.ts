import { GatewayError } from '../common/errors/gateway.error.js';
import type { CallDeadline } from './call-deadline.js';
import { retryDelayMs } from './retry-policy.js';
import {
  UpstreamFailure,
  type UpstreamAnswer,
  type UpstreamAttempt,
  type UpstreamCall,
  type UpstreamRequest,
} from './upstream.types.js';

export interface RetryClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

type Outcome = UpstreamAnswer | UpstreamFailure;

/** Tries until an answer is final or no further attempt makes sense; returns the last answer, or throws the last failure. */
export async function sendWithRetries(
  call: UpstreamCall,
  limits: CallDeadline,
  clock: RetryClock,
  attempt: (request: UpstreamRequest) => Promise<UpstreamAnswer>,
): Promise<UpstreamAnswer> {
  let last: Outcome | undefined;
  let delayMs: number | undefined = 0;
  let wasRenewed = false;
  for (let number = (call.attemptsMade ?? 0) + 1; ; number += 1) {
    let request: UpstreamRequest;
    try {
      if (delayMs > 0) await limits.sleep(delayMs);
      request = call.sign ? await limits.race(call.sign(call.request, new Date(clock.now()))) : call.request;
    } catch (error) {
      if (last === undefined || !isTimeout(error)) throw error;
      return resultOf(last);
    }
    try {
      const asked = call.beforeAttempt?.(number);
      if (asked !== undefined) await asked;
    } catch (refusal) {
      // Anything else is a defect, and goes up instead of being lost behind the last answer.
      if (last === undefined || !(refusal instanceof GatewayError)) throw refusal;
      return resultOf(last);
    }

    if (!limits.expired) call.onAttemptStart?.();
    const startedAt = performance.now();
    let outcome: Outcome;
    try {
      outcome = await attempt(request);
    } catch (error) {
      outcome = failureOnly(error);
    }
    call.onAttempt?.(toAttempt(number, performance.now() - startedAt, outcome));

    // The deadline came before the retry was sent: it was not made.
    if (last !== undefined && isTimeout(outcome) && !outcome.wasSent) return resultOf(last);

    const isRenewed: boolean = !wasRenewed && isAnswer(outcome) && call.renewSignature?.(outcome) === true;
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

function resultOf(outcome: Outcome): UpstreamAnswer {
  if (outcome instanceof UpstreamFailure) throw outcome;
  return outcome;
}

function isAnswer(outcome: Outcome): outcome is UpstreamAnswer {
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
