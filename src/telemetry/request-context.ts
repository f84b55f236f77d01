import type { Request } from 'express';
import type { CallerPresence } from '../common/http/caller-presence.js';
import { RequestFacts } from './request-facts.js';
import type { Metadata, TraceHeaders } from './trace-headers.js';
import type { RequestSpan } from './tracing.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the first middleware on every request. */
    context?: RequestContext;
  }
}

/** One request on its way through the gateway. */
export class RequestContext {
  readonly facts = new RequestFacts();
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

/**
 * The context travels on the request and is handed on by argument. With AsyncLocalStorage, every promise of the process
 * would cost more (docs/decisions/0010-request-context.md).
 */
export function contextOf({ context }: Pick<Request, 'context'>): RequestContext {
  if (context === undefined) throw new Error('the context middleware did not run');
  return context;
}
