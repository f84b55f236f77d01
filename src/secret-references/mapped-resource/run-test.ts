import { GatewayError } from '../../common/errors/gateway.error.js';
import type { LogFields } from '../../telemetry/tracing.js';
import { failureReason, type FailureReason } from '../../upstream/failure-reason.js';
import { SecretError, type SecretErrorCode } from '../managers/secret-manager.types.js';
import { MappedValuesError } from './mapped-values.js';

interface FailedTest {
  readonly ok: false;
  readonly latency_ms: number;
  readonly error: string;
  /** Where the call failed, when one was made. */
  readonly reason?: FailureReason;
  /** What the other side said, without secrets. */
  readonly provider_message?: string;
  /** What an administrator can do about it. */
  readonly hint?: string;
  /** When a secret reference is the reason. `value_not_valid`: the field does not take the secret, which the reference's own test cannot find. */
  readonly secret_error?: SecretErrorCode | 'value_not_valid';
}

type PassedTest<Details> = { readonly ok: true; readonly latency_ms: number } & Details;

/**
 * Runs and times the test of a resource. A failed test answers 200, so the error goes to the request's log line as well.
 * @param test returns what a passed test shows
 */
export async function runTest<Details extends object>(
  fields: LogFields,
  test: () => Promise<Details>,
): Promise<PassedTest<Details> | FailedTest> {
  const startedAt = performance.now();
  const elapsed = (): number => Math.round(performance.now() - startedAt);
  try {
    const details = await test();
    return { ok: true, latency_ms: elapsed(), ...details };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, reason, hint, cause, provider } = error;
    fields.error_code = code;
    fields.error_reason = reason;
    const where = failureReason(error);
    return {
      ok: false,
      latency_ms: elapsed(),
      error: code,
      ...(where === undefined ? {} : { reason: where }),
      ...(provider?.words === undefined ? {} : { provider_message: provider.words }),
      ...(hint && { hint }),
      ...secretErrorIn(cause),
    };
  }
}

function secretErrorIn(cause: unknown): Pick<FailedTest, 'secret_error'> {
  if (cause instanceof MappedValuesError) return { secret_error: 'value_not_valid' };
  return cause instanceof SecretError ? { secret_error: cause.code } : {};
}
