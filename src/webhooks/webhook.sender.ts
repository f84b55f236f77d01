import { Inject, Injectable } from '@nestjs/common';
import { describeDefect } from '../common/errors/describe-defect.js';
import type { ClientConnection } from '../common/http/client-connection.js';
import { Clock } from '../common/time/clock.js';
import { SealError } from '../sealing/sealer.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { retryAfterMs } from '../upstream/retry-after.js';
import { UpstreamClient } from '../upstream/upstream-client.js';
import { type UpstreamAnswer, UpstreamFailure, type UpstreamHead } from '../upstream/upstream.types.js';
import type { DeliveryOutcome, UnansweredReason } from './delivery-outcome.js';
import type { ClaimedDelivery } from './claimed-delivery.js';
import { eventBody, MAX_BODY_BYTES, signedHeaders } from './webhook-message.js';
import { WebhookEncryptor } from './webhook.encryption.js';

const TIMEOUT_MS = 15_000;
/** Answers are not kept; a receiver has no reason to send more than a line. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const GONE = 410;

/** Makes one attempt at a delivery. */
@Injectable()
export class WebhookSender {
  constructor(
    private readonly client: UpstreamClient,
    private readonly vault: WebhookEncryptor,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Never rejects: whatever happens is an outcome. `caller` leaving abandons the attempt. */
  async attempt(delivery: ClaimedDelivery, caller: ClientConnection): Promise<DeliveryOutcome> {
    if (delivery.endpoint.disabledAt !== null) return { kind: 'hopeless', error: 'endpoint_disabled' };
    const body = eventBody(delivery.event);
    if (Buffer.byteLength(body) >= MAX_BODY_BYTES) return { kind: 'hopeless', error: 'event_too_large' };
    const startedAt = performance.now();
    const elapsed = (): number => Math.round(performance.now() - startedAt);
    try {
      return toOutcome(await this.post(delivery, body, caller), elapsed(), this.clock.now());
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) {
        return { kind: 'unanswered', error: this.reasonOf(error, delivery), latencyMs: elapsed() };
      }
      if (error.kind === 'caller_gone') return { kind: 'abandoned' };
      if (error.head === undefined) return { kind: 'unanswered', error: error.kind, latencyMs: elapsed() };
      return toRefusal(error.head, elapsed(), this.clock.now(), error.kind);
    }
  }

  private async post(
    { event, endpoint }: ClaimedDelivery,
    body: string,
    caller: ClientConnection,
  ): Promise<UpstreamAnswer> {
    const now = this.clock.now();
    const secrets = this.vault.signingSecrets(endpoint, now);
    return this.client.send({
      request: {
        method: 'POST',
        url: new URL(endpoint.url),
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Tollgate-Webhooks',
          ...signedHeaders(event.id, now, body, secrets),
        },
        body: Buffer.from(body),
      },
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: MAX_RESPONSE_BYTES,
      // The schedule of the delivery decides, over days and replicas.
      retry: 'never',
      caller,
    });
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

function toOutcome(answer: UpstreamAnswer, latencyMs: number, now: Date): DeliveryOutcome {
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
