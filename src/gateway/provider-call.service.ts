import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import { UnexpectedShapeError } from '../common/json/read.js';
import { AppConfig } from '../config/environment.js';
import type { ModelAnswer } from '../telemetry/gen-ai.js';
import { Metrics } from '../telemetry/metrics.js';
import { providerCall, providerRelay, type ProviderStreams, timeoutMsOf } from '../upstream/provider-call.js';
import {
  answerToError,
  errorInAnswer,
  failureToError,
  type Hidden,
  parseProviderResult,
} from '../upstream/provider-error.js';
import { headersWithoutSecrets, secretsOf, withoutSecrets } from '../upstream/without-secrets.js';
import { UpstreamClient } from '../upstream/upstream-client.js';
import {
  type AttemptObserver,
  type RelayedAnswer,
  type RetryMode,
  type UpstreamAnswer,
  UpstreamFailure,
  type UpstreamHead,
  passedHeaders,
} from '../upstream/upstream.types.js';
import type { ProviderRequest } from '../upstream/providers/provider.types.js';
import { mappedOptions } from '../virtual-keys/provider-fields.js';
import { VirtualKeyCache } from '../virtual-keys/virtual-key.cache.js';
import { untilEndMark } from './answer-filter.js';
import type { BillableStream, BillableUse } from './billable-use.js';
import type { MeteredCall } from './metered-call.js';
import { ObservedCall } from './observed-call.js';
import { pricedModel, type ProviderContext } from './provider-context.decorator.js';
import { UsageMeter } from './usage-meter.js';

const NO_BODY = Buffer.alloc(0);

export interface ProviderOperation {
  /** Name of the operation in traces: `rerank`. */
  readonly operation: string;
  /** undefined when the request names no model. */
  readonly model: string | undefined;
  readonly request: ProviderRequest;
  readonly retry: RetryMode;
  /** The credential may lack the permission: a refusal does not mean that it is invalid. */
  readonly isOptional?: boolean;
  /** Gets an answer whose status is not 2xx, without secrets, before the call fails with its documented error. */
  readonly noteRefusal?: (answer: UpstreamAnswer) => void;
}

/** Returns what a meter has read of a successful answer. Gets the body unless it was streamed to a sink. */
type ReadAnswer = (body: Buffer | undefined) => ModelAnswer | undefined;

/** Calls the provider of a virtual key: usage, credential renewal, traces, metrics and documented errors. */
@Injectable()
export class ProviderCallService {
  constructor(
    private readonly client: UpstreamClient,
    private readonly config: AppConfig,
    private readonly meter: UsageMeter,
    private readonly metrics: Metrics,
    private readonly virtualKeys: VirtualKeyCache,
  ) {}

  /** Returns a context for several calls that make up one answer. They share one deadline, which starts now. */
  withOneDeadline(context: ProviderContext): ProviderContext {
    const { options } = context.virtualKey.credential;
    const deadlineMs = performance.now() + timeoutMsOf(options, this.config);
    return { ...context, deadlineMs: Math.min(deadlineMs, context.deadlineMs ?? Infinity) };
  }

  /**
   * A billable call: reserve, send, read, settle. Each attempt is reserved and settled separately; an attempt whose
   * answer cannot be read is charged its estimate.
   * @param read gets the parsed JSON body of a 2xx answer
   * @throws GatewayError for every other outcome, `usage_limit_exceeded`, `usage_limit_contended`, `price_unknown`
   */
  async runBillable<Result>(
    context: ProviderContext,
    operation: ProviderOperation,
    use: BillableUse<Result>,
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    const begun = this.meter.begin(context, use);
    const call = begun instanceof Promise ? await begun : begun;
    try {
      const answer = await this.run(context, operation, call);
      const result = this.readOrRefuse(context, answer, () => read(parseProviderResult(answer)), call);
      call.succeed(use.usageOf(result));
      setCostHeader(call, context);
      return result;
    } finally {
      this.end(call, context);
    }
  }

  /** A billable call of a model that the gateway runs itself. */
  async runInProcess<Result>(
    context: ProviderContext,
    use: BillableUse<Result>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const call = await this.meter.begin(context, use);
    try {
      await call.before();
      const startedAt = performance.now();
      const attempt = (): { number: number; durationMs: number } => {
        return { number: 1, durationMs: performance.now() - startedAt };
      };
      const result = await work().catch((error: unknown) => {
        // The request was refused before any work, so nothing is charged.
        if (error instanceof GatewayError) call.after({ ...attempt(), wasSent: false });
        throw error;
      });
      call.after({ ...attempt(), wasSent: true, status: 200 });
      call.succeed(use.usageOf(result));
      setCostHeader(call, context);
      return result;
    } finally {
      this.end(call, context);
    }
  }

  /**
   * A billable call whose answer is streamed: reserve, send, meter the bytes, settle. Attempts are repeated only until
   * the first byte of an answer. When the client disconnects, the provider breaks off or a usage limit ends the stream,
   * the received part is charged and the rest is released.
   * @throws GatewayError for every outcome but 2xx, as `runBillable` does
   */
  async streamBillable(
    context: ProviderContext,
    operation: ProviderOperation,
    use: BillableStream,
    streams: Omit<ProviderStreams, 'upload' | 'filter' | 'retry'>,
  ): Promise<RelayedAnswer> {
    const call = await this.meter.begin(context, use);
    try {
      const filter = untilEndMark(
        call.meterStream(() => use.newMeter()),
        call,
      );
      let body: Buffer | undefined;
      const answered = (whole: Buffer | undefined): ModelAnswer | undefined => {
        // No sink took the answer, so it is whole and is metered at once.
        if (whole !== undefined) body = call.meterWhole(whole);
        return call.answer;
      };
      const metered = { filter, retry: operation.retry, ...streams };
      const answer = await this.relay(context, operation, metered, call, answered);
      call.succeedStream();
      if (body === undefined) return answer;
      setCostHeader(call, context);
      return { status: answer.status, headers: answer.headers, body };
    } finally {
      this.end(call, context);
    }
  }

  /**
   * Returns the result of `read` for a 2xx answer. When `read` fails because the answer holds an error, throws that
   * error and charges nothing.
   * @throws UnexpectedShapeError for any other form
   */
  readOrRefuse<Result>(
    context: ProviderContext,
    answer: UpstreamAnswer,
    read: () => Result,
    call?: Pick<MeteredCall, 'refuse'>,
  ): Result {
    try {
      return read();
    } catch (cause) {
      if (!(cause instanceof UnexpectedShapeError)) throw cause;
      const error = errorInAnswer(answer, context.virtualKey.provider, hiddenOf(context), true);
      if (error === undefined) throw cause;
      call?.refuse();
      throw error;
    }
  }

  /** For a 2xx answer to a change. Throws the error in it when the answer cannot be anything else. */
  assertDone(context: ProviderContext, answer: UpstreamAnswer): void {
    const error = errorInAnswer(answer, context.virtualKey.provider, hiddenOf(context), false);
    if (error !== undefined) throw error;
  }

  private end(call: MeteredCall, { request }: ProviderContext): void {
    call.end();
    const { limit_monitored: result } = request.facts;
    if (result !== undefined) this.metrics.limitMonitored.inc({ result });
  }

  /**
   * Sends a call and returns its whole 2xx answer.
   * @throws GatewayError for every other outcome
   */
  async run(context: ProviderContext, operation: ProviderOperation, meter?: AttemptObserver): Promise<UpstreamAnswer> {
    const deadlineMs =
      context.deadlineMs ?? performance.now() + timeoutMsOf(context.virtualKey.credential.options, this.config);
    let attemptsMade = 0;
    const send = async (current: ProviderContext): Promise<UpstreamAnswer> => {
      const telemetry = this.observed(current, operation);
      const call = providerCall(current.virtualKey, withHeaders(operation.request, telemetry.headers), this.config);
      try {
        const answer = this.client.send({
          request: call.request,
          signer: call.signer,
          maxResponseBytes: call.maxResponseBytes,
          timeoutMs: Math.ceil(deadlineMs - performance.now()),
          retry: operation.retry,
          attemptsMade,
          caller: current.request.caller,
          holder: current.virtualKey,
          observers: meter === undefined ? [telemetry] : [meter, telemetry],
        });
        const done = await this.successful(current, operation, telemetry, answer, call.request.body);
        copyPassedHeaders(current, done);
        return done;
      } finally {
        attemptsMade += telemetry.attempts;
      }
    };
    const answer = send(context);
    if (context.virtualKey.source === undefined) return answer;
    return this.withRenewal(context, operation, answer, send, () => Math.ceil(deadlineMs - performance.now()) > 0);
  }

  /**
   * Sends a call whose bodies may be streamed and returns its 2xx answer. An upload is never repeated: a stream cannot
   * be sent twice.
   * @throws GatewayError for every other outcome
   */
  relay(
    context: ProviderContext,
    operation: ProviderOperation,
    streams: ProviderStreams,
    meter?: AttemptObserver,
    answered?: ReadAnswer,
  ): Promise<RelayedAnswer> {
    let attemptsMade = 0;
    const send = async (current: ProviderContext): Promise<RelayedAnswer> => {
      const telemetry = this.observed(current, operation);
      const request = withHeaders(operation.request, telemetry.headers);
      const sinkFor = observedSink(current, telemetry, streams.sinkFor);
      const call = providerRelay(current.virtualKey, request, { ...streams, sinkFor }, this.config);
      try {
        const answer = this.client.relay({
          attemptsMade,
          caller: streams.caller ?? current.request.caller,
          holder: current.virtualKey,
          observers: meter === undefined ? [telemetry] : [meter, telemetry],
          ...call,
        });
        const { body } = call.request;
        const sent = Buffer.isBuffer(body) ? body : undefined;
        return await this.successful(current, operation, telemetry, answer, sent, answered);
      } finally {
        attemptsMade += telemetry.attempts;
      }
    };
    const answer = send(context);
    if (context.virtualKey.source === undefined) return answer;
    return this.withRenewal(context, operation, answer, send, () => streams.upload === undefined);
  }

  private observed(context: ProviderContext, operation: ProviderOperation): ObservedCall {
    const { request, virtualKey } = context;
    const { slug: provider } = virtualKey.provider;
    const info = { operation: operation.operation, provider, model: modelOf(context, operation) };
    return new ObservedCall(request, info, this.metrics);
  }

  /**
   * When the provider refuses a credential from secret references, reads the references again. With other values, the
   * call is sent once more, so that a rotation loses no request.
   */
  private withRenewal<Answer>(
    context: ProviderContext,
    { isOptional = false }: ProviderOperation,
    answer: Promise<Answer>,
    send: (context: ProviderContext) => Promise<Answer>,
    isRepeatable: () => boolean,
  ): Promise<Answer> {
    return answer.catch(async (error: unknown) => {
      const virtualKey = isCredentialRefused(error) ? await this.virtualKeys.renew(context.virtualKey) : undefined;
      if (virtualKey === undefined && !isOptional && isRejected(error))
        this.virtualKeys.noteRefused(context.virtualKey);
      if (virtualKey === undefined || !isRepeatable()) throw error;
      return send({ ...context, virtualKey });
    });
  }

  /** Returns a 2xx answer; throws the documented error for every other outcome. */
  private async successful<Answer extends RelayedAnswer>(
    context: ProviderContext,
    operation: ProviderOperation,
    telemetry: ObservedCall,
    answering: Promise<Answer>,
    sent: Buffer | undefined,
    answered?: ReadAnswer,
  ): Promise<Answer> {
    let answer: Answer;
    try {
      answer = await answering;
    } catch (error) {
      const documented = error instanceof UpstreamFailure ? failureToError(error) : error;
      telemetry.end(codeOf(documented));
      throw documented;
    }
    telemetry.noteAnswer(answer);
    const isSuccess = answer.status >= 200 && answer.status <= 299;
    telemetry.end(String(answer.status), isSuccess ? answered?.(answer.body) : undefined);
    if (isSuccess) return answer;
    const { provider, source } = context.virtualKey;
    const hidden = { ...hiddenOf(context), sent };
    const headers = headersWithoutSecrets(answer.headers, hidden.secrets);
    const refusal = { ...answer, headers, body: answer.body ?? NO_BODY };
    operation.noteRefusal?.({ ...refusal, body: withoutSecrets(refusal.body, hidden.secrets) });
    const error = answerToError(refusal, provider, hidden);
    // With secret references, `withRenewal` first tries a newer credential.
    if (source === undefined && operation.isOptional !== true && isRejected(error))
      this.virtualKeys.noteRefused(context.virtualKey);
    throw error;
  }
}

/** Notes the head of a streamed answer at once: the log line is written at its last byte, before the call has ended. */
function observedSink(
  context: ProviderContext,
  telemetry: ObservedCall,
  sinkFor: ProviderStreams['sinkFor'],
): ProviderStreams['sinkFor'] {
  return (head) => {
    copyPassedHeaders(context, head);
    const sink = sinkFor(head);
    if (sink !== undefined) telemetry.noteHead(head);
    return sink;
  };
}

/** Copies headers such as the provider's rate limits to the answer. Errors already have them. */
function copyPassedHeaders({ answer }: ProviderContext, { status, headers }: UpstreamHead): void {
  if (status < 200 || status > 299) return;
  for (const [name, value] of Object.entries(passedHeaders(headers))) answer.setHeader(name, value);
}

/** The model for traces: that of the price list, since the name of a deployment says nothing to readers. */
function modelOf(context: ProviderContext, { model }: ProviderOperation): string | undefined {
  return model === undefined ? undefined : pricedModel(context, model);
}

function setCostHeader({ costSoFar }: MeteredCall, { answer }: ProviderContext): void {
  if (costSoFar !== undefined) answer.setHeader('x-gateway-cost', costSoFar);
}

export function hiddenOf({ virtualKey: { provider, credential, source } }: ProviderContext): Hidden {
  return { secrets: secretsOf(provider, credential, mappedOptions(source?.mappings ?? [])) };
}

/** Fields are written out: adding to a spread gives every object another hidden class (docs/performance.md). */
function withHeaders(request: ProviderRequest, more: Readonly<Record<string, string>>): ProviderRequest {
  const { method, path, query, headers, body, bytes, region, plane } = request;
  const all = headers === undefined ? more : { ...headers, ...more };
  return { method, path, query, headers: all, body, bytes, region, plane };
}

function isRejected(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'provider_credential_rejected';
}

/** Whether the provider refused the credential, or the service that issues it (such as AWS STS). */
function isCredentialRefused(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false;
  return error.code === 'provider_credential_rejected' || error.code === 'secret_unavailable';
}

/** The label in metrics and the error type of the span: a bounded set. */
function codeOf(error: unknown): string {
  if (error instanceof GatewayError) return error.code;
  return error instanceof UpstreamFailure ? error.kind : 'failed';
}
