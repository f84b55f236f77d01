import { contextOf } from '../../telemetry/request-context.js';
import type { McpCallInfo } from '../../telemetry/tracing.js';
import { rpcMethodOf, toolOf } from '../endpoints/mcp-message.js';
import type { Passage } from '../endpoints/mcp-passage.types.js';
import { methodLabel } from './rpc-method-label.js';

// Written as soon as they are known: the request's log line is written when its answer is out, which is before the call
// is over.

/** For the log and for the span of the request, where there is one. */
export function noteMethod(passage: Passage): void {
  const { request, message } = passage;
  const { facts, span } = contextOf(request);
  facts.mcp_method = methodLabel(request.method, message);
  span?.noteMcpCall(callInfoOf(passage));
}

export function callInfoOf({ request, server, message, denial }: Passage): McpCallInfo {
  const tool = denial?.tool ?? toolOf(message);
  return { server: server.slug, label: methodLabel(request.method, message), rpcMethod: rpcMethodOf(message), tool };
}

/** `ms` is the time from the call to the head of its answer. */
export function noteHead({ request }: Pick<Passage, 'request'>, status: number, ms: number): void {
  const { facts } = contextOf(request);
  facts.upstream_status = status;
  facts.upstream_ms = Math.round(ms);
}
