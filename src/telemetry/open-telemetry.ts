// Imported only when tracing is configured: the SDK would cost every other start time and memory.
import {
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace as otel,
  TraceFlags,
} from '@opentelemetry/api';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import { doneWithin } from '../common/time/done-within.js';
import { GivenIds } from './given-ids.js';
import type { Logger } from './logger.js';
import { providerCallAttributes, providerOutcomeAttributes, requestAttributes } from './span-attributes.js';
import { toTraceparent, type TraceHeaders } from './trace-headers.js';
import { exportFailure, TracingProblems, withoutValues } from './tracing-problems.js';
import { type ProviderCallInfo, type ProviderSpan, type RequestOutcome, type RequestSpan, Tracing } from './tracing.js';

/** A collector that does not answer may hold up the end of the process this long. */
const CLOSE_MS = 3_000;
/** Longer than any model's name and ARN. A caller's may be as long as a body, and thousands of spans may wait for the collector. */
const MAX_MODEL_LENGTH = 512;

export interface OpenTelemetrySettings {
  /** Base address of an OTLP/HTTP collector. */
  readonly endpoint: string;
  readonly serviceName: string;
}

/**
 * Two spans a request, made by hand: instrumentation of whole libraries costs more than the gateway's own work. The SDK
 * reads its further standard variables by itself (OTEL_TRACES_SAMPLER, OTEL_BSP_*, OTEL_EXPORTER_OTLP_HEADERS, ...).
 * Nothing is registered in the process's global API but the logger of the SDK's own problems.
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
    // Not through the egress rules: the collector's address is the operator's own setting, never a caller's, and a
    // collector commonly stands on a private network.
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
    const span = this.ids.during(trace, () =>
      this.tracer.startSpan(trace.spanName ?? method, { kind: SpanKind.SERVER }, parentOf(trace)),
    );
    return new OpenRequestSpan(this.tracer, this.ids, span, trace);
  }

  override async close(): Promise<void> {
    const stopped = this.provider.shutdown().catch((error: unknown) => this.problems.report(exportFailure(error)));
    if (!(await doneWithin(CLOSE_MS, stopped))) this.problems.report('the collector took too long, spans were lost');
    diag.disable();
  }
}

class OpenRequestSpan implements RequestSpan {
  constructor(
    private readonly tracer: Tracer,
    private readonly ids: GivenIds,
    private readonly span: Span,
    private readonly trace: TraceHeaders,
  ) {}

  prepareProviderCall(info: ProviderCallInfo): ProviderSpan {
    return new PreparedProviderSpan(this.tracer, this.ids, this.span, info);
  }

  end(outcome: RequestOutcome): void {
    if (!this.span.isRecording()) return;
    const { method, route } = outcome;
    this.span.updateName(this.trace.spanName ?? (route === undefined ? method : `${method} ${route}`));
    this.span.setAttributes(requestAttributes(this.trace, outcome));
    if (outcome.status >= 500) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.end();
  }
}

/** The provider has to be told of a span before it starts: the request is signed and admitted first. */
class PreparedProviderSpan implements ProviderSpan {
  readonly headers: Readonly<Record<string, string>>;
  private readonly traceIds: Pick<TraceHeaders, 'w3cTraceId' | 'w3cSpanId'>;
  private span: Span | undefined;

  constructor(
    private readonly tracer: Tracer,
    private readonly ids: GivenIds,
    private readonly parent: Span,
    private readonly info: ProviderCallInfo,
  ) {
    // By the parent's flags: the samplers of the SDK decide alike for a span and its child.
    const { traceId, traceFlags } = parent.spanContext();
    this.traceIds = { w3cTraceId: traceId, w3cSpanId: ids.generateSpanId() };
    const sampled = (traceFlags & TraceFlags.SAMPLED) === TraceFlags.SAMPLED;
    this.headers = { traceparent: toTraceparent({ ...this.traceIds, sampled }) };
  }

  start(): void {
    const call = { ...this.info, model: shortened(this.info.model) };
    const name = call.model === undefined ? call.operation : `${call.operation} ${call.model}`;
    const options = { kind: SpanKind.CLIENT, attributes: providerCallAttributes(call) };
    const context = otel.setSpan(ROOT_CONTEXT, this.parent);
    this.span = this.ids.during(this.traceIds, () => this.tracer.startSpan(name, options, context));
  }

  end(outcome: string): void {
    if (this.span === undefined) return;
    const attributes = providerOutcomeAttributes(outcome);
    this.span.setAttributes(attributes);
    if (attributes['error.type'] !== undefined) this.span.setStatus({ code: SpanStatusCode.ERROR });
    this.span.end();
  }
}

/** By way of bytes: a slice of a text keeps all of it in memory. */
function shortened(model: string | undefined): string | undefined {
  if (model === undefined || model.length <= MAX_MODEL_LENGTH) return model;
  return Buffer.from(model.slice(0, MAX_MODEL_LENGTH)).toString();
}

/** The caller's span, whose decision on sampling is kept. Without one, the request begins a trace. */
function parentOf({ w3cTraceId, w3cParentId, sampled }: TraceHeaders): Context {
  if (w3cParentId === undefined) return ROOT_CONTEXT;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return otel.setSpanContext(ROOT_CONTEXT, { traceId: w3cTraceId, spanId: w3cParentId, traceFlags, isRemote: true });
}

/** Failures end here: the SDK's own handler would print them whole, with what the collector answered. */
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
