import { CLIENT_CLOSED_REQUEST } from '../../common/http/client-connection.js';
import type { McpCallContext } from '../endpoints/mcp-request.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';

export const CALL_OUTCOMES = ['ok', 'tool_error', 'rpc_error', 'gateway_error'] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

type Call = Pick<McpCallContext, 'answer' | 'request'>;
type Ending = Pick<McpOutcome, 'error'> & Partial<Pick<McpOutcome, 'upstreamStatus'>>;

/**
 * How a call ended. `gateway_error`: the gateway refused it, or received no usable answer. `rpc_error`: the server returned a
 * JSON-RPC error, or an HTTP error. `tool_error`: the tool reported that it failed. `ok`: everything else, also a client that
 * disconnected.
 */
export function outcomeOf({ answer, request }: Call, { error, upstreamStatus = 200 }: Ending): CallOutcome {
  if (error !== undefined) return 'gateway_error';
  const failure = answer?.failure;
  if (failure !== undefined) return failure.kind;
  // With 405, a server says that it has no streams, or no sessions to end.
  const isUnsupported = request.method !== 'POST' && upstreamStatus === 405;
  return upstreamStatus >= 400 && !isUnsupported ? 'rpc_error' : 'ok';
}

/** For the ledger: whether each tool call of the request was answered, in their order. */
export function toolOutcomesOf(
  call: Pick<McpCallContext, 'answer' | 'request' | 'message'>,
  ending: Ending & Pick<McpOutcome, 'status'>,
): readonly ('answered' | 'failed' | 'cancelled')[] {
  const { answer, message } = call;
  const calls = message?.inspected.messages.filter(({ method }) => method === 'tools/call') ?? [];
  if (ending.status === CLIENT_CLOSED_REQUEST) return calls.map(() => 'cancelled');
  const hasFailed = outcomeOf({ request: call.request, answer: undefined }, ending) !== 'ok';
  return calls.map(({ id }) => (hasFailed || answer?.failureOf(id) !== undefined ? 'failed' : 'answered'));
}
