import { GatewayError } from '../../common/errors/gateway.error.js';
import type { TargetOutcome } from '../../model-routes/target-health.js';
import { retryAfterMs } from '../../upstream/retry-after.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';

/** What the failure of a call says about the target that it went to. */
export interface FailedTarget {
  readonly outcome: TargetOutcome;
  /** Whether another target may do better. */
  readonly isPassable: boolean;
  /** That the provider asked for, in milliseconds. */
  readonly pauseMs?: number | undefined;
}

const NOT_ITS_FAULT: FailedTarget = { outcome: 'unknown', isPassable: false };
/** The provider works: it has read the request, and refuses it. */
const REFUSED: FailedTarget = { outcome: 'answered', isPassable: false };
const UNUSABLE: FailedTarget = { outcome: 'unknown', isPassable: true };
const FAILED: FailedTarget = { outcome: 'failed', isPassable: true };

/** The provider lacks the operation or the version of HTTP: no fault that passes (RFC 9110, 15.6). */
const LACKING: ReadonlySet<number> = new Set([501, 505]);
/** Below 500: our credential, our bill, or the moment. Everything else is about the request. */
const NOT_ABOUT_REQUEST: ReadonlySet<number> = new Set([401, 402, 403, 408, 425]);
const TOO_MANY = 429;

/** No bad request goes to a second provider: only failures that are not about the request pass to the next target. */
export function failedTarget(error: unknown, nowMs: number): FailedTarget {
  if (!(error instanceof GatewayError)) return NOT_ITS_FAULT;
  switch (error.code) {
    case 'provider_not_supported':
    case 'operation_not_offered':
    case 'provider_busy':
    // What this provider lacks, or what cannot be translated for it, another may have.
    case 'unsupported_parameter':
      return UNUSABLE;
    // Whatever its status: who gives credentials may refuse ours with 400.
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
    return { outcome: 'limited', isPassable: true, pauseMs: retryAfterMs(asked, nowMs) };
  }
  // An error in an answer of success.
  if (status < 300) return FAILED;
  return (status >= 500 && !LACKING.has(status)) || NOT_ABOUT_REQUEST.has(status) ? FAILED : REFUSED;
}
