import type { ServerResponse } from 'node:http';
import type { Request } from 'express';
import type { BodyLogging, Principal } from '../access/principal.js';
import type { GatewayError } from '../common/errors/gateway.error.js';
import type { ClientConnection } from '../common/http/client-connection.js';
import { BodyCapture, type CapturedBodies } from './body-capture.js';
import {
  type Metadata,
  toTraceparent,
  traceBelow,
  type TraceContext,
  traceContext,
  type TraceHeaders,
} from './trace-headers.js';
import type { LoggedOutcome } from './logged-outcome.js';
import { LogFields, type ProviderCallInfo, type ProviderSpan, type RequestSpan } from './tracing.js';

/** Longer than any model's name or ARN. Bounds the log line, since names are not always validated. */
const MAX_LOGGED_MODEL_LENGTH = 512;

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the first middleware on every request. */
    context?: RequestContext;
  }
}

/** A virtual key or an MCP server. */
interface UsedResource {
  /** null: belongs to the whole organisation. */
  readonly workspaceId: string | null;
  /** Default metadata of its workspace, for callers without a workspace. */
  readonly defaultMetadata: Metadata;
  /** How that workspace keeps the bodies of calls, for the same callers. */
  readonly logBodies?: BodyLogging | undefined;
}

/** The state of one request. */
export class RequestContext {
  readonly facts = new LogFields();
  /** The client's metadata, overridden by what the API key enforces. */
  metadata: Metadata;
  /** Of the caller's workspace, until a resource is used. */
  private logBodies: BodyLogging | undefined = undefined;
  private isOutcomeOpen = false;
  private onOutcome: (() => void) | undefined = undefined;
  /** Undefined until it is decided; null: this call's are not kept. */
  private capture: BodyCapture | null | undefined = undefined;

  constructor(
    /** Changed by `followTrace` only. */
    public trace: TraceHeaders,
    readonly caller: ClientConnection,
    /** Absent when tracing is off. */
    readonly span?: RequestSpan,
    /** The error in the tracing headers, if any. */
    private readonly refusal?: GatewayError,
    /** Absent: nothing is answered. */
    private readonly response?: ServerResponse,
  ) {
    this.metadata = trace.metadata;
  }

  /**
   * Called by the first guard that knows the error format of the route.
   * @throws GatewayError `validation_failed` that names the invalid tracing header
   */
  assertTraceable(): void {
    if (this.refusal !== undefined) throw this.refusal;
  }

  /**
   * Continues the trace that the body of the request names, when its headers name none. Returns whether it does. Call it before
   * anything with the request's own trace id is sent.
   */
  followTrace(given: Partial<TraceContext>): boolean {
    const trace = traceBelow(this.trace, given);
    if (trace === undefined) return false;
    this.trace = trace;
    this.span?.follow(trace);
    return true;
  }

  /** Notes the caller for the log and merges the metadata: defaults, then the client's, then what the key enforces. */
  noteCaller(principal: Principal): void {
    const { facts } = this;
    facts.organisation_id = principal.organisationId;
    facts.workspace_id = principal.workspaceId;
    facts.actor_type = principal.kind;
    facts.actor_id = principal.id;
    facts.user_id = principal.kind === 'mcp_user' ? principal.id : principal.user?.user_id;
    this.logBodies = principal.logBodies;
    const { defaultMetadata, enforcedMetadata } = principal;
    // Most keys have no metadata, and the check costs less than merging three objects.
    if (isEmpty(defaultMetadata) && isEmpty(enforcedMetadata)) return;
    this.metadata = { ...defaultMetadata, ...this.metadata, ...enforcedMetadata };
  }

  /** Notes the model for the log, as the caller names it. */
  noteModel(model: string): void {
    this.facts.model = model.slice(0, MAX_LOGGED_MODEL_LENGTH);
  }

  /** Notes how the caller wrote the model: the name of a model route, or a virtual key and its model. */
  noteRequestedModel(model: string): void {
    this.facts.model_requested = model.slice(0, MAX_LOGGED_MODEL_LENGTH);
  }

  /** Call it before the body is changed. */
  noteSentBody(body: Buffer | undefined): void {
    this.capture?.noteSent(body);
  }

  /** The outcome may be known later than the answer has left: call `noteOutcome` once. */
  expectOutcome(): void {
    this.isOutcomeOpen = true;
  }

  noteOutcome(outcome: LoggedOutcome): void {
    this.facts.outcome = outcome;
    this.isOutcomeOpen = false;
    this.onOutcome?.();
    this.onOutcome = undefined;
  }

  /** Calls back once, at once where no outcome is expected. */
  whenOutcomeIsKnown(listener: () => void): void {
    if (this.isOutcomeOpen) this.onOutcome = listener;
    else listener();
  }

  /** Notes that another target of the model route takes the call. */
  noteFailedTarget(virtualKey: string, model: string, code: string): void {
    const failed = { virtual_key: virtualKey, model: model.slice(0, MAX_LOGGED_MODEL_LENGTH), error_code: code };
    this.facts.failed_targets = [...(this.facts.failed_targets ?? []), failed];
  }

  /**
   * Notes the resource that the caller uses. A caller without a workspace acts in the workspace of the resource, whose
   * default metadata have the lowest priority.
   */
  noteUse({ workspaceId, defaultMetadata, logBodies }: UsedResource): void {
    this.facts.workspace_id ??= workspaceId;
    if (!isEmpty(defaultMetadata)) this.metadata = { ...defaultMetadata, ...this.metadata };
    const rules = this.logBodies ?? logBodies;
    if (rules !== undefined) this.captureBodies(rules);
  }

  /** What the client sent and got, where the workspace keeps it. */
  takeBodies(request: Request): CapturedBodies | undefined {
    return this.capture?.take(request, request.rawBody);
  }

  /** Decided once: another target of a model route may take the call later. */
  private captureBodies(rules: BodyLogging): void {
    if (this.capture !== undefined || this.response === undefined) return;
    this.capture = Math.random() < rules.sampleRate ? new BodyCapture(rules, this.response) : null;
  }
}

/**
 * The context is stored on the request and passed as an argument. AsyncLocalStorage would make every promise more
 * expensive (docs/decisions/0010-request-context.md).
 */
export function contextOf({ context }: Pick<Request, 'context'>): RequestContext {
  if (context === undefined) throw new Error('the context middleware did not run');
  return context;
}

function isEmpty(metadata: Metadata): boolean {
  return Object.keys(metadata).length === 0;
}

const nothing = (): void => undefined;

/**
 * Prepares the span of a provider call without starting it. With tracing off, the provider receives the gateway's own
 * span id.
 */
export function prepareProviderSpan({ span, trace }: RequestContext, call: ProviderCallInfo): ProviderSpan {
  if (span !== undefined) return span.prepareProviderCall(call);
  return { headers: traceContext(toTraceparent(trace), trace), start: nothing, end: nothing };
}
