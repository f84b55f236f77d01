import type { Writable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Metrics } from '../telemetry/metrics.js';
import { answerToError, parseProviderJson } from '../upstream/provider-error.js';
import { ProviderSender, type ProviderStreams } from '../upstream/provider-sender.js';
import {
  type RelayedAnswer,
  type RetryMode,
  type UpstreamAnswer,
  type UpstreamAttempt,
  UpstreamFailure,
  type UpstreamHead,
} from '../upstream/upstream.types.js';
import type { ProviderRequest } from '../upstream/providers/provider.types.js';
import { mappedOptions } from '../virtual-keys/provider-fields.js';
import { VirtualKeyCache } from '../virtual-keys/virtual-key.cache.js';
import type { BillableUse } from './billable-use.js';
import type { MeteredCall } from './metered-call.js';
import { ObservedCall } from './observed-call.js';
import type { ProviderContext } from './provider-context.decorator.js';
import { UsageMeter } from './usage-meter.js';
import { withoutSecrets } from './without-secrets.js';

const NO_BODY = Buffer.alloc(0);

export interface ProviderOperation {
  /** Name of what is done, for traces: `rerank`. */
  readonly operation: string;
  /** undefined where the operation names none. */
  readonly model: string | undefined;
  readonly request: ProviderRequest;
  readonly retry: RetryMode;
}

/** What watches over the attempts of a call. */
type AttemptHooks = Pick<MeteredCall, 'beforeAttempt' | 'afterAttempt'>;

/** What a call may still use, also after its credential was renewed. */
interface CallBudget {
  /** By `performance.now()`. */
  readonly deadlineMs: number;
  attemptsMade: number;
}

/** One call to the provider of a virtual key, with everything that goes around it: usage, trace, metrics, documented errors. */
@Injectable()
export class ProviderCallService {
  constructor(
    private readonly sender: ProviderSender,
    private readonly meter: UsageMeter,
    private readonly metrics: Metrics,
    private readonly virtualKeys: VirtualKeyCache,
  ) {}

  /** The context for several calls that make up one answer: their one deadline is counted from now. */
  withOneDeadline(context: ProviderContext): ProviderContext {
    return { ...context, deadlineMs: this.deadlineOf(context) };
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
      const result = read(parseProviderJson(await this.run(context, operation, call)));
      call.succeed(use.usageOf(result));
      return result;
    } finally {
      this.end(call, context);
    }
  }

  /** The same for a model inside the gateway. */
  async runInProcess<Result>(
    context: ProviderContext,
    use: BillableUse<Result>,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const call = await this.meter.begin(context, use);
    try {
      await call.beforeAttempt?.();
      const startedAt = performance.now();
      const attempt = (): Pick<UpstreamAttempt, 'number' | 'durationMs'> => {
        return { number: 1, durationMs: performance.now() - startedAt };
      };
      const result = await work().catch((error: unknown) => {
        // The request itself was refused: there is nothing to pay for.
        if (error instanceof GatewayError) call.afterAttempt({ ...attempt(), wasSent: false });
        throw error;
      });
      call.afterAttempt({ ...attempt(), wasSent: true, status: 200 });
      call.succeed(use.usageOf(result));
      return result;
    } finally {
      this.end(call, context);
    }
  }

  private end(call: MeteredCall, { request }: ProviderContext): void {
    call.end();
    const { limit_monitored: result } = request.facts;
    if (result !== undefined) this.metrics.limitMonitored.inc({ result });
  }

  /**
   * The parsed JSON body of a 2xx answer.
   * @throws GatewayError for every other outcome
   */
  async runJson(context: ProviderContext, operation: ProviderOperation): Promise<unknown> {
    return parseProviderJson(await this.run(context, operation));
  }

  /**
   * A whole 2xx answer.
   * @throws GatewayError for every other outcome
   */
  run(context: ProviderContext, operation: ProviderOperation, hooks?: AttemptHooks): Promise<UpstreamAnswer> {
    const deadlineMs = context.deadlineMs ?? this.deadlineOf(context);
    const budget: CallBudget = { deadlineMs, attemptsMade: 0 };
    return this.renewing(
      context,
      () => remainingMs(budget) > 0,
      (current) => this.runOnce(current, operation, budget, hooks),
    );
  }

  private deadlineOf({ virtualKey }: ProviderContext): number {
    return performance.now() + this.sender.timeoutMsOf(virtualKey.credential);
  }

  private runOnce(
    context: ProviderContext,
    operation: ProviderOperation,
    budget: CallBudget,
    hooks: AttemptHooks | undefined,
  ): Promise<UpstreamAnswer> {
    const { virtualKey, request } = context;
    return this.observed(context, operation, (sent, call) =>
      this.sender.send({
        provider: virtualKey.provider,
        credential: virtualKey.credential,
        request: sent,
        caller: request.caller,
        retry: operation.retry,
        timeoutMs: remainingMs(budget),
        attemptsMade: budget.attemptsMade,
        beforeAttempt: hooks?.beforeAttempt,
        onAttemptStart: () => {
          budget.attemptsMade += 1;
          call.startAttempt();
        },
        onAttempt: hooks?.afterAttempt,
      }),
    );
  }

  /**
   * A 2xx answer whose body, and whose request's body, may pass as streams. An upload is never repeated: a stream cannot be
   * sent twice.
   * @throws GatewayError for every other outcome
   */
  relay(context: ProviderContext, operation: ProviderOperation, streams: ProviderStreams): Promise<RelayedAnswer> {
    return this.renewing(
      context,
      () => streams.upload === undefined,
      (current) => this.relayOnce(current, operation, streams),
    );
  }

  private relayOnce(
    context: ProviderContext,
    operation: ProviderOperation,
    streams: ProviderStreams,
  ): Promise<RelayedAnswer> {
    const { provider, credential } = context.virtualKey;
    const { caller } = context.request;
    return this.observed(context, operation, (request, call) => {
      // The log line is written when the last byte is out, which is before the call is over.
      const sinkFor = (head: UpstreamHead): Writable | undefined => {
        const sink = streams.sinkFor(head);
        if (sink !== undefined) call.noteHead(head);
        return sink;
      };
      const onAttemptStart = (): void => call.startAttempt();
      return this.sender.relay({ provider, credential, request, caller, ...streams, onAttemptStart, sinkFor });
    });
  }

  /**
   * When a credential that comes from secret references is refused, these are read anew, and with other values the call is
   * made once more: a rotation loses no request.
   */
  private renewing<Answer>(
    context: ProviderContext,
    isRepeatable: () => boolean,
    call: (context: ProviderContext) => Promise<Answer>,
  ): Promise<Answer> {
    const answer = call(context);
    if (context.virtualKey.source === undefined) return answer;
    return answer.catch(async (error: unknown) => {
      const virtualKey = isCredentialRefused(error) ? await this.virtualKeys.renew(context.virtualKey) : undefined;
      if (virtualKey === undefined || !isRepeatable()) throw error;
      return call({ ...context, virtualKey });
    });
  }

  private async observed<Answer extends RelayedAnswer>(
    context: ProviderContext,
    { operation, model, request }: ProviderOperation,
    send: (request: ProviderRequest, call: ObservedCall) => Promise<Answer>,
  ): Promise<Answer> {
    const { slug: provider } = context.virtualKey.provider;
    const call = new ObservedCall(context.request, { operation, provider, model }, this.metrics);
    let outcome = 'failed';
    let answer: Answer;
    try {
      answer = await send(withHeaders(request, call.headers), call);
      outcome = String(answer.status);
      call.noteAnswer(answer);
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      call.end(outcome);
    }
    return successful(answer, context);
  }
}

/** Whole milliseconds. */
function remainingMs({ deadlineMs }: CallBudget): number {
  return Math.ceil(deadlineMs - performance.now());
}

/** Written out: a spread would make an object of another shape each time, which is slow to make and to read. */
function withHeaders(request: ProviderRequest, more: Readonly<Record<string, string>>): ProviderRequest {
  const { method, path, query, headers, body, bytes, region, plane } = request;
  const all = headers === undefined ? more : { ...headers, ...more };
  return { method, path, query, headers: all, body, bytes, region, plane };
}

/** The answer when it is 2xx; every other is thrown. */
function successful<Answer extends RelayedAnswer>(answer: Answer, { virtualKey }: ProviderContext): Answer {
  if (answer.status >= 200 && answer.status <= 299) return answer;
  const { provider, credential, source } = virtualKey;
  const body = withoutSecrets(answer.body ?? NO_BODY, provider, credential, mappedOptions(source?.mappings ?? []));
  throw answerToError({ ...answer, body }, provider);
}

/** By the provider, or by who gives credentials for it (for Bedrock: AWS STS). */
function isCredentialRefused(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false;
  return error.code === 'provider_credential_rejected' || error.code === 'secret_unavailable';
}

/** Bounded set: a label of metrics and the error type of the span. */
function outcomeOf(error: unknown): string {
  if (error instanceof GatewayError) return error.code;
  return error instanceof UpstreamFailure ? error.kind : 'failed';
}
