import { setMaxListeners } from 'node:events';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { describeDefect } from '../common/errors/describe-error.js';
import { WakeableLoop } from '../common/time/wakeable-loop.js';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import type { DeliveryOutcome } from './delivery-outcome.js';
import type { ClaimedDelivery } from './claimed-delivery.js';
import { RunningDeliveries } from './running-deliveries.js';
import { WebhookDeliveryQueue } from './webhook-delivery.queue.js';
import { WebhookSender } from './webhook.sender.js';

/** How late an event may be that another replica, or plain SQL, wrote to the outbox. */
const POLL_MS = 1_000;
const MAX_RUNNING = 64;
/** A slow receiver takes no more than this of it. */
const MAX_RUNNING_PER_ENDPOINT = 4;
/** The slow receivers of one organisation leave some of it to the others. */
const MAX_RUNNING_PER_ORGANISATION = 48;
/** When the gateway stops, deliveries in flight have this time to finish; others are sent by another gateway, or after the next start. */
const MAX_DRAIN_MS = 5_000;

/** Hands events out to endpoints and sends what is due, on every replica at once. */
@Injectable()
export class WebhookDispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop = new WakeableLoop(() => this.turn(), POLL_MS);
  private readonly running = new RunningDeliveries();
  private readonly stopping = new AbortController();
  private isFailing = false;

  constructor(
    private readonly queue: WebhookDeliveryQueue,
    private readonly sender: WebhookSender,
    private readonly config: AppConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    setMaxListeners(MAX_RUNNING, this.stopping.signal);
  }

  /** Something may be due: look now, and not at the next interval. */
  wake(): void {
    this.loop.wake();
  }

  onApplicationBootstrap(): void {
    this.loop.wake();
  }

  /** Before anything that it needs is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
    await this.running.idle(Math.min(this.config.SHUTDOWN_GRACE_MS, MAX_DRAIN_MS));
    this.stopping.abort();
    await this.running.idle();
  }

  private async turn(): Promise<void> {
    try {
      await this.queue.fanOut();
      const free = MAX_RUNNING - this.running.total;
      const claimed = await this.queue.claim({
        free,
        perEndpoint: MAX_RUNNING_PER_ENDPOINT,
        perOrganisation: MAX_RUNNING_PER_ORGANISATION,
        running: this.running,
      });
      for (const delivery of claimed) void this.running.during(delivery.endpoint, () => this.deliver(delivery));
      this.isFailing = false;
    } catch (error) {
      // Once an outage: turns come every second.
      if (!this.isFailing) this.logger.error({ event: 'webhook_dispatch_failed', error: describeDefect(error) });
      this.isFailing = true;
    }
  }

  /** Never rejects. What cannot be written down is sent again after its lease: at least once, not at most. */
  private async deliver(delivery: ClaimedDelivery): Promise<void> {
    const { id, event, endpoint } = delivery;
    const about = { delivery_id: id, event_id: event.id, webhook_endpoint_id: endpoint.id };
    try {
      const outcome = await this.sender.attempt(delivery, this.stopping.signal);
      this.logger.info({ event: 'webhook_attempt', ...about, attempt: delivery.attempts + 1, ...factsOf(outcome) });
      await this.queue.record(delivery, outcome);
    } catch (error) {
      this.logger.error({ event: 'webhook_attempt_not_recorded', ...about, error: describeDefect(error) });
    }
    // There is room for another one now.
    this.loop.wake();
  }
}

function factsOf(outcome: DeliveryOutcome): object {
  return {
    outcome: outcome.kind,
    ...('status' in outcome ? { status: outcome.status } : {}),
    ...('error' in outcome ? { error: outcome.error } : {}),
    ...('latencyMs' in outcome ? { duration_ms: outcome.latencyMs } : {}),
  };
}
