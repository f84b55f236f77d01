import type { GatewayError } from '../common/errors/gateway.error.js';
import type { RequestFacts } from '../telemetry/request-facts.js';
import { SecretError, type SecretErrorCode } from './managers/secret-manager.types.js';

/** What the test of an owner of secret mappings answers when it fails. */
interface FailedTest {
  readonly error: string;
  /** Where a secret reference is why. */
  readonly secret_error?: SecretErrorCode;
}

/** The answer to a test that failed. Its status is 200, so the log line is told as well. */
export function failedTest(error: GatewayError, facts: RequestFacts): FailedTest {
  const { code, reason, cause } = error;
  facts.error_code = code;
  facts.error_reason = reason;
  return cause instanceof SecretError ? { error: code, secret_error: cause.code } : { error: code };
}
