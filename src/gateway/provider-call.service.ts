import type { Writable } from 'node:stream';
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
  /** Name of what is done, for traces: `rerank`. */
  readonly operation: string;
  /** undefined where the operation names none. */
  readonly model: string | undefined;
  readonly request: ProviderRequest;
  readonly retry: RetryMode;
  /** The credential need not be allowed to do it: a refusal says nothing about it. */
  readonly isOptional?: boolean;
  /** Gets an answer whose status is not 2xx, without secrets, before the call fails with its documented error. */
  readonly noteRefusal?: (answer: UpstreamAnswer) => void;
}

/** What is known of a successful answer of a model. Gets its body where no sink has taken it. */
type ReadAnswer = (body: Buffer | undefined) => ModelAnswer | undefined;

/** One call to the provider of a virtual key, with everything that goes around it: usage, trace, metrics, documented errors. */
@Injectable()
export class ProviderCallService {
  constructor(
    private readonly client: UpstreamClient,
    private readonly config: AppConfig,
    private readonly meter: UsageMeter,
    private readonly metrics: Metrics,
    private readonly virtualKeys: VirtualKeyCache,
  ) {}

  /** The context for several calls that make up one answer: their one deadline is counted from now. */
  withOneDeadline(context: ProviderContext): ProviderContext {
    const { options } = context.virtualKey.credential;
    const deadlineMs = performance.now() + timeoutMsOf(options, this.config);
    return { ...context, deadlineMs: Math.min(deadlineMs, context.deadlineMs ?? Infinity) };
  }

  /**
   * A call that costs: reserve, send, read, settle. Every attempt is reserved and settled by itself; one whose answer
   * cannot be read is presumed to cost what was expected.
   * @param read from the parsed JSON body of a 2xx answer
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
      tellCost(call, context);
      return result;
    } finally {
      this.end(call, context);
    }
  }

  /** Meters and reads a call of a model inside the gateway. */
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
        // The request itself was refused: there is nothing to pay for.
        if (error instanceof GatewayError) call.after({ ...attempt(), wasSent: false });
        throw error;
      });
      call.after({ ...attempt(), wasSent: true, status: 200 });
      call.succeed(use.usageOf(result));
      tellCost(call, context);
      return result;
    } finally {
      this.end(call, context);
    }
  }

  /**
   * A call that costs and whose answer passes as a stream: reserve, send, meter beside the bytes, settle. It is repeated only
   * until the first byte of an answer is there for its sink. However it ends, what came is charged and the rest released: when
   * the client leaves, when the provider breaks off, and when a usage limit ends it.
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
        // An answer that no sink took is whole, and is metered at once.
        if (whole !== undefined) body = call.meterWhole(whole);
        return call.answer;
      };
      const metered = { filter, retry: operation.retry, ...streams };
      const answer = await this.relay(context, operation, metered, call, answered);
      call.succeedStream();
      if (body === undefined) return answer;
      tellCost(call, context);
      return { status: answer.status, headers: answer.headers, body };
    } finally {
      this.end(call, context);
    }
  }

  /**
   * What `read` makes of a 2xx answer. An answer in another form that holds an error is that error, and costs nothing.
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

  /** Throws the error that a 2xx answer to a change holds, where it can be nothing else. */
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
   * A whole 2xx answer.
   * @throws GatewayError for every other outcome
   */
  async run(context: ProviderContext, operation: ProviderOperation, meter?: AttemptObserver): Promise<UpstreamAnswer> {
    const deadlineMs =
      context.deadlineMs ?? performance.now() + timeoutMsOf(context.virtualKey.credential.options, this.config);
    let attemptsMade = 0;
    const send = async (current: ProviderContext): Promise<UpstreamAnswer> => {
      const { slug: provider } = current.virtualKey.provider;
      const info = { operation: operation.operation, provider, model: modelOf(current, operation) };
      const telemetry = new ObservedCall(current.request, info, this.metrics);
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
        passOn(current, done);
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
   * A 2xx answer whose body, and whose request's body, may pass as streams. An upload is never repeated: a stream cannot be
   * sent twice.
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
      const { slug: provider } = current.virtualKey.provider;
      const info = { operation: operation.operation, provider, model: modelOf(current, operation) };
      const telemetry = new ObservedCall(current.request, info, this.metrics);
      // The log line is written when the last byte is out, which is before the call is over.
      const sinkFor = (head: UpstreamHead): Writable | undefined => {
        passOn(current, head);
        const sink = streams.sinkFor(head);
        if (sink !== undefined) telemetry.noteHead(head);
        return sink;
      };
      const request = withHeaders(operation.request, telemetry.headers);
      const call = providerRelay(current.virtualKey, request, { ...streams, sinkFor }, this.config);
      const observers = meter === undefined ? [telemetry] : [meter, telemetry];
      try {
        const answer = this.client.relay({
          attemptsMade,
          caller: streams.caller ?? current.request.caller,
          holder: current.virtualKey,
          observers,
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

  /**
   * When a credential that comes from secret references is refused, these are read again, and with other values the call is
   * made once more: a rotation loses no request.
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

  /** The answer when it is 2xx; every other outcome is thrown as its documented error. */
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
    // With a source, a newer credential may be accepted.
    if (source === undefined && operation.isOptional !== true && isRejected(error))
      this.virtualKeys.noteRefused(context.virtualKey);
    throw error;
  }
}

/** Those of the provider's headers that the caller gets too, whatever is made of the answer. Errors have them already. */
function passOn({ answer }: ProviderContext, { status, headers }: UpstreamHead): void {
  if (status < 200 || status > 299) return;
  for (const [name, value] of Object.entries(passedHeaders(headers))) answer.setHeader(name, value);
}

/** For traces: a name of a deployment says nothing to those who read them. */
function modelOf(context: ProviderContext, { model }: ProviderOperation): string | undefined {
  return model === undefined ? undefined : pricedModel(context, model);
}

/** What the whole answer has cost. */
function tellCost({ costSoFar }: MeteredCall, { answer }: ProviderContext): void {
  if (costSoFar !== undefined) answer.setHeader('x-gateway-cost', costSoFar);
}

export function hiddenOf({ virtualKey: { provider, credential, source } }: ProviderContext): Hidden {
  return { secrets: secretsOf(provider, credential, mappedOptions(source?.mappings ?? [])) };
}

/** Written out: a spread that is added to makes an object of another shape each time (docs/performance.md). */
function withHeaders(request: ProviderRequest, more: Readonly<Record<string, string>>): ProviderRequest {
  const { method, path, query, headers, body, bytes, region, plane } = request;
  const all = headers === undefined ? more : { ...headers, ...more };
  return { method, path, query, headers: all, body, bytes, region, plane };
}

function isRejected(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'provider_credential_rejected';
}

/** By the provider, or by who gives credentials for it (such as AWS STS). */
function isCredentialRefused(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false;
  return error.code === 'provider_credential_rejected' || error.code === 'secret_unavailable';
}

/** Bounded set: a label of metrics and the error type of the span. */
function codeOf(error: unknown): string {
  if (error instanceof GatewayError) return error.code;
  return error instanceof UpstreamFailure ? error.kind : 'failed';
}
