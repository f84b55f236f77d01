import { GatewayError } from '../common/errors/gateway.error.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import type { CallDeadline } from './call-deadline.js';
import {
  UpstreamFailure,
  type AttemptObserver,
  type RelayedAnswer,
  type RequestSigner,
  type UpstreamAttempt,
  type UpstreamCall,
  type UpstreamRequest,
} from './upstream.types.js';
import { retryDelayMs } from './retry-policy.js';
import type { ConnectionShare } from './origin-pools.js';

export interface RetryClock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly random: () => number;
}

type Outcome = RelayedAnswer | UpstreamFailure;

type RepeatableCall = Pick<UpstreamCall, 'request' | 'retry' | 'attemptsMade' | 'signer' | 'observers'>;

const NO_OBSERVERS: readonly AttemptObserver[] = [];

/** How an attempt gets its connection, and is sent on it. */
export interface AttemptSender {
  /**
   * The connection of the next attempt; undefined when the attempt will not be sent.
   * @throws UpstreamFailure `busy`, or the failure that ended the call during the wait
   */
  connect(): MaybePromise<ConnectionShare | undefined>;
  /** Releases the connection. */
  send(request: UpstreamRequest, connection: ConnectionShare | undefined): Promise<RelayedAnswer>;
}

/**
 * Sends a call, and repeats it as `retryDelayMs` says. An attempt is signed, gets a connection, is admitted by the
 * observers, and is sent. Returns the last answer, or throws the last failure.
 */
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
      // Any other error is a defect, and must not be hidden by the last answer.
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
    const attempted = attemptOf(number, durationMs, outcome);
    for (const observer of observers) observer.after?.(attempted);

    if (!(outcome instanceof UpstreamFailure) && outcome.status < 300) return outcome;
    // The deadline passed before the retry was sent, so the result is that of the attempt before.
    if (last !== undefined && isTimeout(outcome) && !outcome.wasSent) return resultOf(last);

    const isRenewed: boolean = !wasRenewed && isSignatureRenewed(signer, outcome);
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

/** Waits for a connection, and reports the time to the observers. */
async function observed<T>(wait: Promise<T>, observers: readonly AttemptObserver[]): Promise<T> {
  const startedAt = performance.now();
  try {
    return await wait;
  } finally {
    const waitedMs = performance.now() - startedAt;
    for (const observer of observers) observer.waited?.(waitedMs);
  }
}

/** Whether the attempt did not begin in time. */
function isOutOfTime(error: unknown): boolean {
  return isTimeout(error) || (error instanceof UpstreamFailure && error.kind === 'busy');
}

function isTimeout(value: unknown): value is UpstreamFailure {
  return value instanceof UpstreamFailure && value.kind === 'timeout';
}

/** An `UpstreamFailure` is an outcome that may be retried; any other error is a defect, and is thrown. */
function failureOnly(error: unknown): UpstreamFailure {
  if (error instanceof UpstreamFailure) return error;
  throw error;
}

function attemptOf(number: number, durationMs: number, outcome: Outcome): UpstreamAttempt {
  return outcome instanceof UpstreamFailure
    ? { number, durationMs, wasSent: outcome.wasSent, failure: outcome.kind }
    : { number, durationMs, wasSent: true, status: outcome.status };
}

/** Whether the provider refused only the signature, and the signer has other credentials now. */
function isSignatureRenewed(signer: RequestSigner | undefined, outcome: Outcome): boolean {
  return !(outcome instanceof UpstreamFailure) && signer?.renew?.(outcome) === true;
}
