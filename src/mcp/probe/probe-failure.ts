import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode as RpcErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { ErrorCode } from '../../common/errors/error-codes.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { errorCodeForStatus } from './error-code-for-status.js';

/** What the official client threw, as a code of ours: its messages quote servers. */
export function probeFailure(error: unknown): ErrorCode {
  if (error instanceof UpstreamFailure && error.kind === 'too_large') return 'provider_invalid_response';
  if (error instanceof UnauthorizedError) return 'provider_credential_rejected';
  if (error instanceof McpError)
    return error.code === RpcErrorCode.RequestTimeout ? 'provider_timeout' : 'provider_rejected';
  if (isTimeout(error)) return 'provider_timeout';
  if (error instanceof StreamableHTTPError) return errorCodeForStatus(error.code);
  if (error instanceof SyntaxError || isZodError(error)) return 'provider_invalid_response';
  return 'provider_failed';
}

/** Of its two editions. */
const ZOD_ERRORS: readonly unknown[] = ['ZodError', '$ZodError'];

/** Zod's errors need not be of the class of all others. */
function isZodError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && ZOD_ERRORS.includes(error.name);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}
