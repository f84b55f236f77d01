import type { GatewayError } from '../common/errors/gateway.error.js';
import type { LogFields } from '../telemetry/log-fields.js';
import { SecretError, type SecretErrorCode } from './managers/secret-manager.types.js';
import { MappedValuesError } from './mapped-values.error.js';

/** What the test of an owner of secret mappings answers when it fails. */
interface FailedTest {
  readonly error: string;
  /** Where a secret reference is why. Whether a value fits its field, no test of the reference can tell. */
  readonly secret_error?: SecretErrorCode | 'value_not_valid';
}

/** The answer to a test that failed. Its status is 200, so the log line is told as well. */
export function failedTest(error: GatewayError, facts: LogFields): FailedTest {
  const { code, reason, cause } = error;
  facts.error_code = code;
  facts.error_reason = reason;
  if (cause instanceof MappedValuesError) return { error: code, secret_error: 'value_not_valid' };
  return cause instanceof SecretError ? { error: code, secret_error: cause.code } : { error: code };
}
