import { contextOf } from '../../telemetry/request-context.js';
import { rpcMethodOf } from '../endpoints/mcp-message.js';
import type { Passage } from '../endpoints/mcp-passage.types.js';
import { methodLabel } from './rpc-method-label.js';

// Written as soon as they are known: the request's log line is written when its answer is out, which is before the call
// is over.

export function noteMethod({ request, message }: Pick<Passage, 'request' | 'message'>): void {
  contextOf(request).facts.mcp_method = methodLabel(request.method, rpcMethodOf(message));
}

/** `ms` is the time from the call to the head of its answer. */
export function noteHead({ request }: Pick<Passage, 'request'>, status: number, ms: number): void {
  const { facts } = contextOf(request);
  facts.upstream_status = status;
  facts.upstream_ms = Math.round(ms);
}
