import { HttpService } from '@nestjs/axios';
import { Inject, Injectable } from '@nestjs/common';
import { isCancel } from 'axios';
import { describeDefect } from '../common/errors/describe-error.js';
import { Clock } from '../common/time/clock.js';
import { SealError } from '../sealing/sealer.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { headOf, type GuardedHttpLimits } from '../upstream/egress/guarded-http.js';
import { retryAfterMs } from '../upstream/retry-after.js';
import { UpstreamFailure, type UpstreamHead } from '../upstream/upstream.types.js';
import type { DeliveryOutcome, UnansweredReason } from './delivery-outcome.js';
import type { ClaimedDelivery } from './claimed-delivery.js';
import { slackBody } from './slack-message.js';
import { eventBody, MAX_BODY_BYTES, signedHeaders } from './webhook-message.js';
import { WebhookEncryptor } from './webhook.encryption.js';

export const WEBHOOK_LIMITS = {
  timeoutMs: 15_000,
  maxRequestBytes: MAX_BODY_BYTES,
  /** Answers are not kept; a receiver has no reason to send more than a line. */
  maxResponseBytes: 64 * 1024,
} as const satisfies GuardedHttpLimits;
const GONE = 410;

/** Makes one attempt at a delivery. */
@Injectable()
export class WebhookSender {
  constructor(
    private readonly http: HttpService,
    private readonly vault: WebhookEncryptor,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Never rejects: whatever happens is an outcome. `stop` abandons the attempt. */
  async attempt(delivery: ClaimedDelivery, stop: AbortSignal): Promise<DeliveryOutcome> {
    if (delivery.endpoint.disabledAt !== null) return { kind: 'hopeless', error: 'endpoint_disabled' };
    const body = delivery.endpoint.format === 'slack' ? slackBody(delivery.event) : eventBody(delivery.event);
    if (Buffer.byteLength(body) >= MAX_BODY_BYTES) return { kind: 'hopeless', error: 'event_too_large' };
    const startedAt = performance.now();
    const elapsed = (): number => Math.round(performance.now() - startedAt);
    try {
      return toOutcome(await this.post(delivery, body, stop), elapsed(), this.clock.now());
    } catch (error) {
      if (isCancel(error)) return { kind: 'abandoned' };
      if (!(error instanceof UpstreamFailure)) {
        return { kind: 'unanswered', error: this.reasonOf(error, delivery), latencyMs: elapsed() };
      }
      if (error.head === undefined) return { kind: 'unanswered', error: error.kind, latencyMs: elapsed() };
      return toRefusal(error.head, elapsed(), this.clock.now(), error.kind);
    }
  }

  private async post({ event, endpoint }: ClaimedDelivery, body: string, signal: AbortSignal): Promise<UpstreamHead> {
    const now = this.clock.now();
    const secrets = this.vault.signingSecrets(endpoint, now);
    const answer = await this.http.axiosRef.post<Buffer>(endpoint.url, Buffer.from(body), {
      headers: {
        'content-type': 'application/json',
        'user-agent': 'Tollgate-Webhooks',
        ...signedHeaders(event.id, now, body, secrets),
      },
      signal,
    });
    return headOf(answer);
  }

  private reasonOf(error: unknown, { id }: ClaimedDelivery): UnansweredReason {
    const line = { event: 'webhook_not_sent', delivery_id: id };
    if (error instanceof SealError) {
      this.logger.error({ ...line, reason: 'secret_unavailable', error_reason: error.message });
      return 'secret_unavailable';
    }
    this.logger.error({ ...line, reason: 'internal_error', error: describeDefect(error) });
    return 'internal_error';
  }
}

function toOutcome(answer: UpstreamHead, latencyMs: number, now: Date): DeliveryOutcome {
  const { status } = answer;
  return status >= 200 && status < 300 ? { kind: 'accepted', status, latencyMs } : toRefusal(answer, latencyMs, now);
}

/** @param error why the rest of the answer did not come: its head counts all the same */
function toRefusal(
  { status, headers }: UpstreamHead,
  latencyMs: number,
  now: Date,
  error?: UnansweredReason,
): DeliveryOutcome {
  if (status === GONE) return { kind: 'gone', status, latencyMs };
  return { kind: 'refused', status, error, latencyMs, retryAfterMs: retryAfterMs(headers, now.getTime()) };
}
