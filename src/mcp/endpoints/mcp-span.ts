import { GatewayError } from '../../common/errors/gateway.error.js';
import { CLIENT_CLOSED_REQUEST } from '../../common/http/client-closed-request.js';
import { contextOf } from '../../telemetry/request-context.js';
import type { TraceContext } from '../../telemetry/trace-headers.js';
import type { CallOutcome, McpCallSpan } from '../../telemetry/tracing.js';
import { callInfoOf } from '../calls/request-facts.js';
import type { McpOutcome } from '../proxy/mcp-proxy.types.js';
import type { Passage } from './mcp-passage.types.js';

type Send = (trace: TraceContext | undefined) => Promise<McpOutcome>;

/** Calls the server within a span of its own where the request is traced, and else as it is. */
export function inMcpSpan(passage: Passage, send: Send): Promise<McpOutcome> {
  const span = contextOf(passage.request).span?.startMcpCall(callInfoOf(passage));
  return span === undefined ? send(undefined) : inSpan(span, send);
}

async function inSpan(span: McpCallSpan, send: Send): Promise<McpOutcome> {
  let ended: CallOutcome = { status: undefined, error: 'failed' };
  try {
    const outcome = await send(span.headers);
    ended = toCallOutcome(outcome);
    return outcome;
  } catch (error) {
    if (error instanceof GatewayError) ended = { status: undefined, error: error.code };
    throw error;
  } finally {
    span.end(ended);
  }
}

/** A client that leaves once the answer has begun does so in good order: that is how streams end. */
function toCallOutcome({ status, upstreamStatus, error }: McpOutcome): CallOutcome {
  const hasLeft = status === CLIENT_CLOSED_REQUEST && upstreamStatus === undefined;
  return { status: upstreamStatus, error: error?.code ?? (hasLeft ? 'caller_gone' : undefined) };
}
