import { GatewayError } from '../../common/errors/gateway.error.js';
import type { TargetOutcome } from '../../model-routes/target-health.js';
import { retryAfterMs } from '../../upstream/retry-after.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';

/** What a failed call shows about its target. */
export interface FailedTarget {
  readonly outcome: TargetOutcome;
  /** Whether another target may succeed. */
  readonly mayFailOver: boolean;
  /** The wait that the provider asked for, in milliseconds. */
  readonly pauseMs?: number | undefined;
}

const NOT_ITS_FAULT: FailedTarget = { outcome: 'unknown', mayFailOver: false };
/** The provider works: it read the request and refused it. */
const REFUSED: FailedTarget = { outcome: 'answered', mayFailOver: false };
const UNUSABLE: FailedTarget = { outcome: 'unknown', mayFailOver: true };
const FAILED: FailedTarget = { outcome: 'failed', mayFailOver: true };

/** The provider lacks the operation or the HTTP version: a permanent fault (RFC 9110, 15.6). */
const LACKING: ReadonlySet<number> = new Set([501, 505]);
/** Statuses below 500 that are about the credential, the bill or the time. All others are about the request. */
const NOT_ABOUT_REQUEST: ReadonlySet<number> = new Set([401, 402, 403, 408, 425]);
const TOO_MANY = 429;

/** Only failures that are not about the request fail over: a bad request is never sent to a second provider. */
export function failedTarget(error: unknown, nowMs: number): FailedTarget {
  if (!(error instanceof GatewayError)) return NOT_ITS_FAULT;
  switch (error.code) {
    case 'provider_not_supported':
    case 'operation_not_offered':
    case 'provider_busy':
    // Another provider may have the option, or need no translation.
    case 'unsupported_parameter':
      return UNUSABLE;
    // For any status: a credential service may refuse with 400.
    case 'provider_credential_rejected':
    case 'secret_unavailable':
      return FAILED;
    default:
      return error.cause instanceof UpstreamFailure ? byFailure(error.cause) : byStatus(error, nowMs);
  }
}

function byFailure({ kind }: UpstreamFailure): FailedTarget {
  switch (kind) {
    case 'caller_gone':
    case 'too_large':
      return NOT_ITS_FAULT;
    case 'busy':
    case 'refused_by_egress':
      return UNUSABLE;
    case 'connect':
    case 'broken':
    case 'incomplete':
    case 'interim':
    case 'timeout':
    case 'redirect':
      return FAILED;
  }
}

function byStatus({ provider, headers }: GatewayError, nowMs: number): FailedTarget {
  if (provider === undefined) return NOT_ITS_FAULT;
  const { status } = provider;
  if (status === TOO_MANY) {
    const asked = { 'retry-after': headers['Retry-After'], 'retry-after-ms': headers['retry-after-ms'] };
    return { outcome: 'limited', mayFailOver: true, pauseMs: retryAfterMs(asked, nowMs) };
  }
  // An error in a 2xx answer.
  if (status < 300) return FAILED;
  return (status >= 500 && !LACKING.has(status)) || NOT_ABOUT_REQUEST.has(status) ? FAILED : REFUSED;
}
