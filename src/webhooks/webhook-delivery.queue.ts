import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { afterAttempt, type DeliveryOutcome } from './delivery-outcome.js';
import { type ClaimedDelivery, type ClaimedRow, toClaimedDelivery } from './claimed-delivery.js';
import type { RunningDeliveries } from './running-deliveries.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import { CLAIM_DUE, FAN_OUT } from './webhook-delivery.sql.js';
import { WebhookEndpointStore } from './webhook-endpoint.store.js';

/** Few, since each may have many endpoints and a statement has little time. */
const FAN_OUT_BATCH = 20;
/** Longer than any attempt takes: what is not back by then was left behind by a gateway that died. */
const LEASE_MS = 60_000;

/** How much may be under way at a time in this gateway, and what is. */
export interface Capacity {
  readonly free: number;
  readonly perEndpoint: number;
  readonly perOrganisation: number;
  readonly running: Pick<RunningDeliveries, 'byEndpoint' | 'byOrganisation'>;
}

/**
 * The deliveries of all gateways of one database. Each is sent by one gateway at a time, and none is lost: what a gateway
 * does not bring back is due again after its lease.
 */
@Injectable()
export class WebhookDeliveryQueue {
  constructor(
    @InjectRepository(WebhookDelivery) private readonly deliveries: Repository<WebhookDelivery>,
    private readonly endpoints: WebhookEndpointStore,
    private readonly clock: Clock,
  ) {}

  /** Writes a delivery for every endpoint that subscribed to an event, for all events that wait. */
  async fanOut(): Promise<void> {
    let events = FAN_OUT_BATCH;
    while (events === FAN_OUT_BATCH) {
      const [, affected]: readonly [unknown, number] = await this.deliveries.query(FAN_OUT, [
        this.clock.now(),
        FAN_OUT_BATCH,
      ]);
      events = affected;
    }
  }

  /**
   * Due deliveries, from now on this gateway's to send: those of organisations that have the fewest under way here first,
   * and of each the longest due.
   */
  async claim({ free, perEndpoint, perOrganisation, running }: Capacity): Promise<readonly ClaimedDelivery[]> {
    if (free <= 0) return [];
    const now = this.clock.now();
    const [rows]: readonly [readonly ClaimedRow[], number] = await this.deliveries.query(CLAIM_DUE, [
      now,
      new Date(now.getTime() + LEASE_MS),
      [...running.byEndpoint.keys()],
      [...running.byEndpoint.values()],
      perEndpoint,
      [...running.byOrganisation.keys()],
      [...running.byOrganisation.values()],
      perOrganisation,
      free,
    ]);
    return rows.map(toClaimedDelivery);
  }

  /** Writes down what became of a claimed delivery, unless another gateway has taken it over meanwhile. */
  async record(claimed: ClaimedDelivery, told: DeliveryOutcome): Promise<void> {
    const now = this.clock.now();
    const { id, claimId, endpoint } = claimed;
    // First, so that a gateway that dies in between sends nothing to it after the lease.
    const outcome = told.kind === 'gone' ? await this.disable(endpoint, told, now) : told;
    await this.deliveries.manager.transaction(async (manager) => {
      const lock = { mode: 'pessimistic_write' } as const;
      // A redelivery that was asked for meanwhile has set the attempts back.
      const row = await manager.findOne(WebhookDelivery, { where: { id, claimId }, lock });
      if (row === null) return;
      await manager.update(WebhookDelivery, { id, claimId }, afterAttempt(outcome, row.attempts, now, Math.random()));
    });
  }

  /** What was gone is another address than the one that the endpoint has by now: that is tried too. */
  private async disable(
    endpoint: ClaimedDelivery['endpoint'],
    gone: DeliveryOutcome & { readonly kind: 'gone' },
    now: Date,
  ): Promise<DeliveryOutcome> {
    const isItsAddress = await this.endpoints.disableGone(endpoint, now);
    return isItsAddress ? gone : { ...gone, kind: 'refused', retryAfterMs: undefined };
  }
}
