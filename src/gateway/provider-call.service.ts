import { Injectable } from '@nestjs/common';
import { GatewayError } from '../common/errors/gateway.error.js';
import { Metrics } from '../telemetry/metrics.js';
import { startProviderSpan } from '../telemetry/provider-span.js';
import { currentContext } from '../telemetry/request-context.js';
import type { RequestFacts } from '../telemetry/request-facts.js';
import { answerToError, parseProviderJson } from '../upstream/provider-error.js';
import { ProviderSender } from '../upstream/provider-sender.js';
import { type RetryMode, type UpstreamAnswer, UpstreamFailure } from '../upstream/upstream.types.js';
import type { VendorRequest } from '../upstream/vendors/vendor.types.js';
import type { ProviderContext } from './provider-context.decorator.js';
import { withoutSecrets } from './without-secrets.js';

export interface ProviderOperation {
  /** Name of what is done, for traces: `rerank`. */
  readonly operation: string;
  readonly model: string;
  readonly request: VendorRequest;
  readonly retry: RetryMode;
}

/** One call to the provider of a virtual key, with everything that goes around it: trace, metrics, documented errors. */
@Injectable()
export class ProviderCallService {
  constructor(
    private readonly sender: ProviderSender,
    private readonly metrics: Metrics,
  ) {}

  /**
   * The parsed JSON body of a 2xx answer.
   * @throws GatewayError for every other outcome
   */
  async runJson(context: ProviderContext, operation: ProviderOperation): Promise<unknown> {
    const { vendor, credential } = context.virtualKey;
    const answer = await this.observed(context, operation);
    if (answer.status >= 200 && answer.status <= 299) return parseProviderJson(answer);
    throw answerToError({ ...answer, body: withoutSecrets(answer.body, vendor, credential) }, vendor);
  }

  private async observed(
    context: ProviderContext,
    { operation, model, request, retry }: ProviderOperation,
  ): Promise<UpstreamAnswer> {
    const { vendor, credential } = context.virtualKey;
    const provider = vendor.slug;
    const facts: RequestFacts = currentContext()?.facts ?? {};
    const span = startProviderSpan({ operation, provider, model });
    const startedAt = performance.now();
    let outcome = 'failed';
    try {
      const answer = await this.sender.send({
        vendor,
        credential,
        request: { ...request, headers: { ...request.headers, ...span.headers } },
        retry,
        caller: context.caller,
        onAttempt: (attempt) => {
          facts.upstream_attempts = attempt.number;
        },
      });
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

/** Bounded set: a label of metrics and the error type of the span. */
function outcomeOf(error: unknown): string {
  if (error instanceof GatewayError) return error.code;
  return error instanceof UpstreamFailure ? error.kind : 'failed';
}
