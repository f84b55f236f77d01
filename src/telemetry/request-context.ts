import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallerPresence } from '../common/http/caller-presence.js';
import type { Metadata, TraceHeaders } from './trace-headers.js';

/** Facts that a request gathers on its way, for its one log line. Ids and counts only. */
export interface RequestFacts {
  organisation_id?: string;
  workspace_id?: string | null;
  actor_type?: string;
  actor_id?: string;
  virtual_key?: string;
  provider?: string;
  model?: string;
  documents?: number;
  search_units?: number;
  total_tokens?: number;
  upstream_status?: number;
  upstream_attempts?: number;
  upstream_ms?: number;
  error_code?: string;
  error_reason?: string;
}

/** One request on its way through the gateway. */
export class RequestContext {
  readonly facts: RequestFacts = {};
  /** Client metadata, with what the API key enforces laid over it. */
  metadata: Metadata;

  constructor(
    readonly trace: TraceHeaders,
    readonly caller: CallerPresence,
  ) {
    this.metadata = trace.metadata;
  }
}

const storage = new AsyncLocalStorage<RequestContext>();

export function runInContext(context: RequestContext, work: () => void): void {
  storage.run(context, work);
}

/** The running request, when there is one: background work has none. */
export function currentContext(): RequestContext | undefined {
  return storage.getStore();
}
