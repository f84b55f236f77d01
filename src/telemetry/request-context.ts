import type { Request } from 'express';
import type { Principal } from '../access/principal.js';
import type { GatewayError } from '../common/errors/gateway.error.js';
import type { ClientConnection } from '../common/http/client-connection.js';
import { LogFields } from './log-fields.js';
import { type Metadata, toTraceparent, traceContext, type TraceHeaders } from './trace-headers.js';
import type { ProviderCallInfo, ProviderSpan, RequestSpan } from './tracing.js';

/** Longer than any model's name and ARN. Not every provider knows its models, and a log line must not grow with a name. */
const MAX_LOGGED_MODEL_LENGTH = 512;

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the first middleware on every request. */
    context?: RequestContext;
  }
}

/** A virtual key or an MCP server. */
interface UsedResource {
  /** null: of the whole organisation. */
  readonly workspaceId: string | null;
  /** Of its workspace, for callers that did not bring their own. */
  readonly defaultMetadata: Metadata;
}

/** One request on its way through the gateway. */
export class RequestContext {
  readonly facts = new LogFields();
  /** Client metadata, with what the API key enforces laid over it. */
  metadata: Metadata;

  constructor(
    readonly trace: TraceHeaders,
    readonly caller: ClientConnection,
    /** Absent when tracing is off. */
    readonly span?: RequestSpan,
    /** What is wrong with the tracing headers, if anything is. */
    private readonly refusal?: GatewayError,
  ) {
    this.metadata = trace.metadata;
  }

  /**
   * For the first that knows in which form the request is answered: the global guard, or the entrance that a route has itself.
   * @throws GatewayError `validation_failed` that names a tracing header which cannot be read
   */
  assertTraceable(): void {
    if (this.refusal !== undefined) throw this.refusal;
  }

  /** Tells the log who called, and settles the metadata: defaults, then the client's, then what the key enforces. */
  noteCaller(principal: Principal): void {
    const { facts } = this;
    facts.organisation_id = principal.organisationId;
    facts.workspace_id = principal.workspaceId;
    facts.actor_type = principal.kind;
    facts.actor_id = principal.id;
    const { defaultMetadata, enforcedMetadata } = principal;
    // Most keys say nothing, and to lay three objects over each other costs more than to look.
    if (isEmpty(defaultMetadata) && isEmpty(enforcedMetadata)) return;
    this.metadata = { ...defaultMetadata, ...this.metadata, ...enforcedMetadata };
  }

  /** Tells the log which model a call is for, as the caller names it. */
  noteModel(model: string): void {
    this.facts.model = model.slice(0, MAX_LOGGED_MODEL_LENGTH);
  }

  /**
   * Tells what the caller uses. One without a workspace acts in that of what it uses, whose defaults go beneath all other
   * metadata.
   */
  noteUse({ workspaceId, defaultMetadata }: UsedResource): void {
    this.facts.workspace_id ??= workspaceId;
    if (!isEmpty(defaultMetadata)) this.metadata = { ...defaultMetadata, ...this.metadata };
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

function isEmpty(metadata: Metadata): boolean {
  return Object.keys(metadata).length === 0;
}

const nothing = (): void => undefined;

/** The span of a provider call, not started yet. With tracing off, the provider is told of the gateway's own span. */
export function prepareProviderSpan({ span, trace }: RequestContext, call: ProviderCallInfo): ProviderSpan {
  if (span !== undefined) return span.prepareProviderCall(call);
  return { headers: traceContext(toTraceparent(trace), trace), start: nothing, end: nothing };
}
