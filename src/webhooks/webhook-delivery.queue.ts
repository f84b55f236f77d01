import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { afterAttempt, type DeliveryOutcome } from './delivery-outcome.js';
import { type ClaimedDelivery, type ClaimedRow, toClaimedDelivery } from './claimed-delivery.js';
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
  readonly running: ReadonlyMap<string, number>;
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

  /** Due deliveries, from now on this gateway's to send, the longest due first. */
  async claim({ free, perEndpoint, running }: Capacity): Promise<readonly ClaimedDelivery[]> {
    if (free <= 0) return [];
    const now = this.clock.now();
    const [rows]: readonly [readonly ClaimedRow[], number] = await this.deliveries.query(CLAIM_DUE, [
      now,
      new Date(now.getTime() + LEASE_MS),
      [...running.keys()],
      [...running.values()],
      perEndpoint,
      free,
    ]);
    return rows.map(toClaimedDelivery);
  }

  /** Writes down what became of a claimed delivery, unless another gateway has taken it over meanwhile. */
  async record(claimed: ClaimedDelivery, outcome: DeliveryOutcome): Promise<void> {
    const now = this.clock.now();
    const { id, claimId, attempts, endpoint } = claimed;
    // First, so that a gateway that dies in between sends nothing to it after the lease.
    if (outcome.kind === 'gone') await this.endpoints.disableGone(endpoint, now);
    await this.deliveries.update({ id, claimId }, afterAttempt(outcome, attempts, now, Math.random()));
  }
}
