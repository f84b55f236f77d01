import type { ErrorCode } from '../common/errors/error-codes.js';
import { genAiOperation, genAiProvider, type ModelAnswer } from '../telemetry/gen-ai.js';
import type { Metrics } from '../telemetry/metrics.js';
import { prepareProviderSpan, type RequestContext } from '../telemetry/request-context.js';
import type { ProviderCallInfo, ProviderSpan } from '../telemetry/tracing.js';
import {
  type AttemptObserver,
  type UpstreamHead,
  type UpstreamHeaders,
  firstHeader,
} from '../upstream/upstream.types.js';

/**
 * Records one call to a provider in its span, the metrics and the log line. A call that ends before its first attempt
 * is not recorded, because it shows nothing about the provider: a usage limit refused it, or signing failed.
 */
export class ObservedCall implements AttemptObserver {
  /** When the first attempt began. */
  private startedAt: number | undefined;
  /** Attempts of this call. */
  attempts = 0;
  private headMs: number | undefined;
  /** Time of the earlier calls that make up the same answer. */
  private readonly earlierMs: number;
  private readonly provider: string;
  private readonly operation: string;
  private readonly span: ProviderSpan;
  /** Trace context for the provider. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    private readonly request: RequestContext,
    info: ProviderCallInfo,
    private readonly metrics: Metrics,
  ) {
    this.earlierMs = request.facts.upstream_ms ?? 0;
    this.provider = info.provider;
    this.operation = info.operation;
    this.span = prepareProviderSpan(request, info);
    this.headers = this.span.headers;
  }

  /** The wait in the gateway's own queue is not part of `upstream_ms`, which measures the provider. */
  waited(milliseconds: number): void {
    const { facts } = this.request;
    facts.upstream_queue_ms = Math.round((facts.upstream_queue_ms ?? 0) + milliseconds);
    this.metrics.upstreamQueueSeconds.observe({ provider: this.provider }, milliseconds / 1_000);
  }

  started(): void {
    const { facts } = this.request;
    this.attempts += 1;
    // Several calls may make up one answer.
    facts.upstream_attempts = (facts.upstream_attempts ?? 0) + 1;
    if (this.startedAt !== undefined) return;
    this.startedAt = performance.now();
    this.span.start();
  }

  /** Call it for a streamed answer. Its time ends with its head, since the rest depends on the speed of the client. */
  noteHead(head: UpstreamHead): void {
    if (this.startedAt !== undefined) this.headMs = performance.now() - this.startedAt;
    this.noteAnswer(head);
    this.request.facts.upstream_ms = Math.round(this.earlierMs + (this.headMs ?? 0));
  }

  noteAnswer({ status, headers }: UpstreamHead): void {
    const { facts } = this.request;
    facts.upstream_status = status;
    facts.upstream_request_id = requestIdOf(headers);
  }

  /**
   * @param outcome the provider's status, or the code of the failure
   * @param answer of a model
   */
  end(outcome: string, answer?: ModelAnswer): void {
    if (outcome === BUSY) this.metrics.upstreamBusy.inc({ provider: this.provider });
    if (this.startedAt === undefined) return;
    const durationMs = performance.now() - this.startedAt;
    this.request.facts.upstream_ms = Math.round(this.earlierMs + (this.headMs ?? durationMs));
    this.metrics.upstreamRequests.inc({ provider: this.provider, code: outcome });
    this.metrics.upstreamSeconds.observe({ provider: this.provider }, durationMs / 1000);
    this.span.end(outcome, answer);
    if (answer !== undefined) this.observeAnswer(answer, durationMs);
  }

  private observeAnswer({ inputTokens, outputTokens, firstTokenMs }: ModelAnswer, durationMs: number): void {
    const labels = {
      gen_ai_operation_name: genAiOperation(this.operation),
      gen_ai_provider_name: genAiProvider(this.provider),
    };
    const { modelSeconds, modelTokens, modelFirstTokenSeconds } = this.metrics;
    modelSeconds.observe(labels, durationMs / 1_000);
    if (inputTokens !== undefined) modelTokens.observe(ofTokens(labels, 'input'), inputTokens);
    if (outputTokens !== undefined) modelTokens.observe(ofTokens(labels, 'output'), outputTokens);
    if (firstTokenMs !== undefined) modelFirstTokenSeconds.observe(labels, firstTokenMs / 1_000);
  }
}

interface ModelLabels {
  readonly gen_ai_operation_name: string;
  readonly gen_ai_provider_name: string;
}

/** The labels in the order of /metrics. They are written out for speed (docs/performance.md). */
function ofTokens({ gen_ai_operation_name, gen_ai_provider_name }: ModelLabels, gen_ai_token_type: string) {
  return { gen_ai_operation_name, gen_ai_provider_name, gen_ai_token_type };
}

const BUSY: ErrorCode = 'provider_busy';

/** OpenAI and most others; Amazon; Azure's API management. */
const NAMES = ['x-request-id', 'x-amzn-requestid', 'apim-request-id'] as const;
const ID = /^[\x21-\x7e]{1,128}$/;

/** The provider's own id of a request, which its support asks for. */
export function requestIdOf(headers: UpstreamHeaders): string | undefined {
  for (const name of NAMES) {
    const id = firstHeader(headers, name);
    if (id !== undefined && ID.test(id)) return id;
  }
  return undefined;
}
