import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode as RpcErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import type { ErrorCode } from '../../common/errors/error-codes.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';
import { codeOfStatus } from './code-of-status.js';

/** What the official client threw, as a code of ours: its messages quote servers. */
export function probeFailure(error: unknown): ErrorCode {
  if (error instanceof UpstreamFailure && error.kind === 'too_large') return 'provider_invalid_response';
  if (error instanceof UnauthorizedError) return 'provider_credential_rejected';
  if (error instanceof McpError)
    return error.code === RpcErrorCode.RequestTimeout ? 'provider_timeout' : 'provider_rejected';
  if (isTimeout(error)) return 'provider_timeout';
  if (error instanceof StreamableHTTPError) return codeOfStatus(error.code);
  if (error instanceof SyntaxError || (error instanceof Error && error.name === 'ZodError'))
    return 'provider_invalid_response';
  return 'provider_failed';
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
}
