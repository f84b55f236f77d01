import { CLIENT_CLOSED_REQUEST } from '../../common/http/client-connection.js';
import type { McpCallContext } from '../endpoints/mcp-request.js';
import { ReportedOutcome } from '../inspection/reported-outcome.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import type { CallOutcome } from './call-outcome.types.js';

type Call = Pick<McpCallContext, 'answer' | 'request' | 'server' | 'message'>;
type Ending = Pick<McpOutcome, 'error' | 'status'> & Partial<Pick<McpOutcome, 'upstreamStatus'>>;

/**
 * How a call ended. `gateway_error`: the gateway refused it, or received no usable answer. `rpc_error`: the server returned a
 * JSON-RPC error, or an HTTP error. `tool_error`: the tool reported that it failed. `unknown`: the answer did not pass here, or
 * the stream ended without it.
 * `ok`: everything else, also a client that disconnected.
 */
export function outcomeOf(call: Call, ending: Ending): CallOutcome {
  if (ending.error !== undefined) return 'gateway_error';
  const failure = call.answer?.failure;
  if (failure !== undefined) return failure.kind;
  if (isHttpError(call, ending)) return 'rpc_error';
  return isUnseen(call, ending) ? 'unknown' : 'ok';
}

/** For the ledger: whether each tool call of the request was answered, in their order. */
export function toolOutcomesOf(
  call: Pick<Call, 'answer' | 'request' | 'message'>,
  ending: Ending,
): readonly ('answered' | 'failed' | 'cancelled')[] {
  const { answer, message } = call;
  const calls = message?.inspected.messages.filter(({ method }) => method === 'tools/call') ?? [];
  if (ending.status === CLIENT_CLOSED_REQUEST) return calls.map(() => 'cancelled');
  const hasFailed = ending.error !== undefined || isHttpError(call, ending);
  return calls.map(({ id }) => (hasFailed || answer?.failureOf(id) !== undefined ? 'failed' : 'answered'));
}

function isHttpError({ request }: Pick<Call, 'request'>, { upstreamStatus = 200 }: Ending): boolean {
  // With 405, a server says that it has no streams, or no sessions to end.
  const isUnsupported = request.method !== 'POST' && upstreamStatus === 405;
  return upstreamStatus >= 400 && !isUnsupported;
}

/**
 * On the older transport, the answer comes on the stream of the session: that may be at another replica, or end before the
 * answer, or the answer may take too long. On the other, a server may end the stream, and answer on a later one.
 */
function isUnseen({ server, message, answer }: Call, { status }: Ending): boolean {
  if (answer?.isComplete === true) return false;
  if (server.transport === 'sse') return ReportedOutcome.of(message?.inspected) !== undefined;
  return answer?.isMissing === true && status !== CLIENT_CLOSED_REQUEST;
}
