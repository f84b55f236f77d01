import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Metrics } from '../telemetry/metrics.js';
import { startProviderSpan } from '../telemetry/provider-span.js';
import { currentContext } from '../telemetry/request-context.js';
import type { RequestFacts } from '../telemetry/request-facts.js';
import { answerToError, parseProviderJson } from '../upstream/provider-error.js';
import { type ProviderRequest, ProviderSender, type ProviderStreams } from '../upstream/provider-sender.js';
import {
  type RelayedAnswer,
  type RetryMode,
  type UpstreamAnswer,
  UpstreamFailure,
} from '../upstream/upstream.types.js';
import type { VendorRequest } from '../upstream/vendors/vendor.types.js';
import { VirtualKeyCache } from '../virtual-keys/virtual-key.cache.js';
import type { ProviderContext } from './provider-context.decorator.js';
import { withoutSecrets } from './without-secrets.js';

const NO_BODY = Buffer.alloc(0);

export interface ProviderOperation {
  /** Name of what is done, for traces: `rerank`. */
  readonly operation: string;
  /** undefined where the operation names none. */
  readonly model: string | undefined;
  readonly request: VendorRequest;
  readonly retry: RetryMode;
}

/** What every request to the provider of a virtual key is made of. */
type Outgoing = Pick<ProviderRequest, 'vendor' | 'credential' | 'request' | 'caller'>;

/** One call to the provider of a virtual key, with everything that goes around it: trace, metrics, documented errors. */
@Injectable()
export class ProviderCallService {
  constructor(
    private readonly sender: ProviderSender,
    private readonly metrics: Metrics,
    private readonly virtualKeys: VirtualKeyCache,
  ) {}

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
  async run(context: ProviderContext, operation: ProviderOperation): Promise<UpstreamAnswer> {
    return this.renewing(context, true, (current) => this.runOnce(current, operation));
  }

  private async runOnce(context: ProviderContext, operation: ProviderOperation): Promise<UpstreamAnswer> {
    const { retry } = operation;
    const answer = await this.observed(context, operation, (outgoing, facts) =>
      this.sender.send({
        ...outgoing,
        retry,
        onAttempt: (attempt) => {
          facts.upstream_attempts = attempt.number;
        },
      }),
    );
    return successful(answer, context);
  }

  /**
   * A 2xx answer whose body, and whose request's body, may pass as streams. An upload is never repeated: a stream cannot be
   * sent twice.
   * @throws GatewayError for every other outcome
   */
  async relay(
    context: ProviderContext,
    operation: ProviderOperation,
    streams: ProviderStreams,
  ): Promise<RelayedAnswer> {
    return this.renewing(context, streams.upload === undefined, (current) =>
      this.relayOnce(current, operation, streams),
    );
  }

  private async relayOnce(
    context: ProviderContext,
    operation: ProviderOperation,
    streams: ProviderStreams,
  ): Promise<RelayedAnswer> {
    const answer = await this.observed(context, operation, (outgoing) =>
      this.sender.relay({ ...outgoing, ...streams }),
    );
    return successful(answer, context);
  }

  /**
   * When a credential that comes from secret references is refused, these are read anew, and with other values the call is
   * made once more: a rotation loses no request.
   */
  private async renewing<Answer>(
    context: ProviderContext,
    isRepeatable: boolean,
    call: (context: ProviderContext) => Promise<Answer>,
  ): Promise<Answer> {
    try {
      return await call(context);
    } catch (error) {
      const virtualKey = isCredentialRefused(error) ? await this.virtualKeys.renew(context.virtualKey) : undefined;
      if (virtualKey === undefined || !isRepeatable) throw error;
      return call({ ...context, virtualKey });
    }
  }

  private async observed<Answer extends RelayedAnswer>(
    context: ProviderContext,
    { operation, model, request }: ProviderOperation,
    send: (outgoing: Outgoing, facts: RequestFacts) => Promise<Answer>,
  ): Promise<Answer> {
    const { vendor, credential } = context.virtualKey;
    const provider = vendor.slug;
    const facts: RequestFacts = currentContext()?.facts ?? {};
    const span = startProviderSpan({ operation, provider, model });
    const startedAt = performance.now();
    let outcome = 'failed';
    try {
      const outgoing = {
        vendor,
        credential,
        request: { ...request, headers: { ...request.headers, ...span.headers } },
        caller: context.caller,
      };
      const answer = await send(outgoing, facts);
      outcome = String(answer.status);
      facts.upstream_status = answer.status;
      return answer;
    } catch (error) {
      outcome = outcomeOf(error);
      throw error;
    } finally {
      const durationMs = performance.now() - startedAt;
      facts.upstream_ms = Math.round((facts.upstream_ms ?? 0) + durationMs);
      this.metrics.upstreamRequests.inc({ provider, code: outcome });
      this.metrics.upstreamSeconds.observe({ provider }, durationMs / 1000);
      span.end(outcome);
    }
  }
}

/** The answer when it is 2xx; every other is thrown. */
function successful<Answer extends RelayedAnswer>(answer: Answer, { virtualKey }: ProviderContext): Answer {
  if (answer.status >= 200 && answer.status <= 299) return answer;
  const { vendor, credential } = virtualKey;
  throw answerToError({ ...answer, body: withoutSecrets(answer.body ?? NO_BODY, vendor, credential) }, vendor);
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
