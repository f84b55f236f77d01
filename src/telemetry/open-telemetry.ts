// Imported only when tracing is configured, since the SDK costs start-up time and memory.
import {
  type Attributes,
  type Context,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace as otel,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  NodeTracerProvider,
  RandomIdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-node';
import { settledWithin } from '../common/time/timeout.js';
import { genAiOperation, type ModelAnswer } from './gen-ai.js';
import type { Logger } from './logger.js';
import {
  callOutcomeAttributes,
  mcpCallAttributes,
  modelAnswerAttributes,
  providerCallAttributes,
  requestAttributes,
  shortened,
  toCallOutcome,
} from './span-attributes.js';
import { toTraceparent, type TraceContext, traceContext, type TraceHeaders } from './trace-headers.js';
import { exportFailure, TracingProblems, withoutValues } from './tracing-problems.js';
import {
  type CallOutcome,
  type McpCallInfo,
  type McpCallSpan,
  type ProviderCallInfo,
  type ProviderSpan,
  type RequestOutcome,
  type RequestSpan,
  Tracing,
} from './tracing.js';

/** The longest time that a silent collector may delay the end of the process. */
const CLOSE_MS = 3_000;

export interface OpenTelemetrySettings {
  /** Base address of an OTLP/HTTP collector. */
  readonly endpoint: string;
  readonly serviceName: string;
}

/**
 * Two spans per request, created here: instrumentation libraries cost more than the gateway's own work. The SDK reads
 * its other standard variables itself (OTEL_TRACES_SAMPLER, OTEL_BSP_*, OTEL_EXPORTER_OTLP_HEADERS, ...). Only the
 * SDK's diagnostic logger is registered globally.
 */
export class OpenTelemetryTracing extends Tracing {
  private readonly ids = new GivenIds();
  private readonly problems: TracingProblems;
  private readonly provider: NodeTracerProvider;
  private readonly tracer: Tracer;

  constructor({ endpoint, serviceName }: OpenTelemetrySettings, logger: Logger) {
    super();
    this.problems = new TracingProblems(logger);
    reportDiagnostics(this.problems);
    // Exempt from the egress rules: only the operator sets the collector's address, and collectors are usually on a
    // private network.
    const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/+$/, '')}/v1/traces` });
    this.provider = new NodeTracerProvider({
      idGenerator: this.ids,
      resource: defaultResource()
        .merge(detectResources({ detectors: [envDetector] }))
        .merge(resourceFromAttributes({ 'service.name': serviceName })),
      spanProcessors: [new BatchSpanProcessor(new ReportingExporter(exporter, this.problems))],
    });
    this.tracer = this.provider.getTracer('tollgate');
  }

  override startRequest(method: string, trace: TraceHeaders): RequestSpan {
    return new OpenRequestSpan(this.tracer, this.ids, method, trace);
  }

  override async close(): Promise<void> {
    const stopped = this.provider.shutdown().catch((error: unknown) => this.problems.report(exportFailure(error)));
    if (!(await settledWithin(CLOSE_MS, stopped))) this.problems.report('the collector took too long, spans were lost');
    diag.disable();
  }
}

class OpenRequestSpan implements RequestSpan {
  private readonly startedAt = performance.now();
  private span: Span;
  private hasMoved = false;

  constructor(
    private readonly tracer: Tracer,
    private readonly ids: GivenIds,
    private readonly method: string,
    private trace: TraceHeaders,
  ) {
    this.span = this.start();
  }

  /** The first span is never exported, since it does not end. */
  follow(trace: TraceHeaders): void {
    this.trace = trace;
    this.span = this.start(this.startedAt);
    this.hasMoved = true;
  }

  prepareProviderCall(info: ProviderCallInfo): ProviderSpan {
    return new PreparedProviderSpan(this.tracer, this.ids, this.span, this.trace, info);
  }

  noteMcpCall(call: McpCallInfo): void {
    this.span.setAttributes(mcpCallAttributes(call));
  }

  startMcpCall(call: McpCallInfo): McpCallSpan {
    const method = shortened(call.rpcMethod) ?? call.label;
    const span = startCall(this.tracer, this.span, method, shortened(call.tool), mcpCallAttributes(call));
    const { traceId, spanId, traceFlags } = span.spanContext();
    const headers = contextOf(this.trace, traceId, spanId, traceFlags);
    return { headers, end: (outcome) => endCall(span, outcome) };
  }

  end(outcome: RequestOutcome): void {
    if (!this.span.isRecording()) return;
    const { method, route } = outcome;
    this.span.updateName(this.trace.spanName ?? (route === undefined ? method : `${method} ${route}`));
    this.span.setAttributes(requestAttributes(this.trace, outcome));
    if (outcome.status >= 500 || outcome.isBrokenOff) this.span.setStatus({ code: SpanStatusCode.ERROR });
    // The SDK measures the duration of spans that start now, and no others.
    this.span.end(this.hasMoved ? performance.now() : undefined);
  }

  private start(startTime?: number): Span {
    const { trace, method } = this;
    const options = { kind: SpanKind.SERVER, ...(startTime === undefined ? {} : { startTime }) };
    return this.ids.during(trace, () => this.tracer.startSpan(trace.spanName ?? method, options, parentOf(trace)));
  }
}

/** The headers need the span's id before the span starts, since the request is signed and admitted first. */
class PreparedProviderSpan implements ProviderSpan {
  readonly headers: TraceContext;
  private readonly traceIds: Pick<TraceHeaders, 'w3cTraceId' | 'w3cSpanId'>;
  private span: Span | undefined;

  constructor(
    private readonly tracer: Tracer,
    private readonly ids: GivenIds,
    private readonly parent: Span,
    trace: TraceHeaders,
    private readonly info: ProviderCallInfo,
  ) {
    // Uses the parent's flags: the SDK's samplers decide the same for a span and its child.
    const { traceId, traceFlags } = parent.spanContext();
    this.traceIds = { w3cTraceId: traceId, w3cSpanId: ids.generateSpanId() };
    this.headers = contextOf(trace, traceId, this.traceIds.w3cSpanId, traceFlags);
  }

  start(): void {
    const call = { ...this.info, model: shortened(this.info.model) };
    this.span = this.ids.during(this.traceIds, () =>
      startCall(this.tracer, this.parent, genAiOperation(call.operation), call.model, providerCallAttributes(call)),
    );
  }

  end(outcome: string, answer?: ModelAnswer): void {
    if (this.span === undefined) return;
    if (answer !== undefined) this.span.setAttributes(modelAnswerAttributes(answer));
    endCall(this.span, toCallOutcome(outcome));
  }
}

function contextOf(trace: TraceHeaders, w3cTraceId: string, w3cSpanId: string, flags: TraceFlags): TraceContext {
  const sampled = (flags & TraceFlags.SAMPLED) === TraceFlags.SAMPLED;
  return traceContext(toTraceparent({ w3cTraceId, w3cSpanId, sampled }), trace);
}

/** @param target the model or tool, where there is one */
function startCall(
  tracer: Tracer,
  parent: Span,
  operation: string,
  target: string | undefined,
  attributes: Attributes,
): Span {
  const name = target === undefined ? operation : `${operation} ${target}`;
  return tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, otel.setSpan(ROOT_CONTEXT, parent));
}

function endCall(span: Span, outcome: CallOutcome): void {
  const attributes = callOutcomeAttributes(outcome);
  span.setAttributes(attributes);
  if (attributes['error.type'] !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/** The caller's span, whose sampling decision is kept. Without one, the request starts a new trace. */
function parentOf({ w3cTraceId, w3cParentId, sampled }: TraceHeaders): Context {
  if (w3cParentId === undefined) return ROOT_CONTEXT;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return otel.setSpanContext(ROOT_CONTEXT, { traceId: w3cTraceId, spanId: w3cParentId, traceFlags, isRemote: true });
}

/** Handles failures here: the SDK's handler would print them with the collector's response. */
class ReportingExporter implements SpanExporter {
  constructor(
    private readonly exporter: SpanExporter,
    private readonly problems: TracingProblems,
  ) {}

  export(...[spans, done]: Parameters<SpanExporter['export']>): void {
    this.exporter.export(spans, (result) => {
      if (result.error !== undefined) this.problems.report(exportFailure(result.error));
      done({ code: 0 });
    });
  }

  async shutdown(): Promise<void> {
    await this.exporter.shutdown();
  }
}

function reportDiagnostics(problems: TracingProblems): void {
  const report = (...parts: readonly unknown[]): void =>
    problems.report(withoutValues(parts.filter((part) => typeof part === 'string').join(': ')));
  const ignore = (): void => undefined;
  const logger = { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}

type Ids = Pick<TraceHeaders, 'w3cTraceId' | 'w3cSpanId'>;

/** Generates random ids, except for spans whose ids are already logged or sent. */
class GivenIds implements IdGenerator {
  private readonly random = new RandomIdGenerator();
  private given: Ids | undefined;

  /** `start` must create its span synchronously. */
  during<Started>(ids: Ids, start: () => Started): Started {
    this.given = ids;
    try {
      return start();
    } finally {
      this.given = undefined;
    }
  }

  generateTraceId(): string {
    return this.given?.w3cTraceId ?? this.random.generateTraceId();
  }

  generateSpanId(): string {
    return this.given?.w3cSpanId ?? this.random.generateSpanId();
  }
}
