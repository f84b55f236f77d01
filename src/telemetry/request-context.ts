import { AsyncLocalStorage } from 'node:async_hooks';
import type { CallerPresence } from '../common/http/caller-presence.js';
import type { RequestFacts } from './request-facts.js';
import type { Metadata, TraceHeaders } from './trace-headers.js';
import type { RequestSpan } from './tracing.js';

/** One request on its way through the gateway. */
export class RequestContext {
  readonly facts: RequestFacts = {};
  /** Client metadata, with what the API key enforces laid over it. */
  metadata: Metadata;

  constructor(
    readonly trace: TraceHeaders,
    readonly caller: CallerPresence,
    /** Absent when tracing is off. */
    readonly span?: RequestSpan,
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
