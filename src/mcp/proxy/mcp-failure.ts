import { GatewayError } from '../../common/errors/gateway.error.js';
import { UpstreamFailure } from '../../upstream/upstream.types.js';

const UNUSABLE = 'The MCP server answered in a form that the gateway does not forward.';
const BUSY = 'All connections to the MCP server are in use; try again.';
const FAILED = 'The MCP server could not be reached or failed.';

/** The error that a client sees when an exchange with its MCP server failed before the answer began. */
export function toMcpFailure(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown;
  if (!(thrown instanceof UpstreamFailure)) return new GatewayError('internal_error', { cause: thrown });
  const options = { cause: thrown, reason: `${thrown.kind}: ${thrown.message}` };
  switch (thrown.kind) {
    case 'busy':
      return new GatewayError('provider_busy', { ...options, message: BUSY, headers: { 'retry-after': '1' } });
    case 'timeout':
      return new GatewayError('provider_timeout', { ...options, message: 'The MCP server did not answer in time.' });
    case 'redirect':
    case 'incomplete':
    case 'interim':
    case 'too_large':
      return new GatewayError('provider_invalid_response', { ...options, message: UNUSABLE });
    case 'connect':
    case 'broken':
    case 'refused_by_egress':
    case 'caller_gone':
      return new GatewayError('provider_failed', { ...options, message: FAILED });
  }
}
