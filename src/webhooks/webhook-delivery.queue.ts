import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Clock } from '../common/time/clock.js';
import { afterAttempt, type DeliveryOutcome } from './delivery-outcome.js';
import { type ClaimedDelivery, type ClaimedRow, toClaimedDelivery } from './claimed-delivery.js';
import type { RunningDeliveries } from './running-deliveries.js';
import { WebhookDelivery } from './webhook-delivery.entity.js';
import { WebhookEndpointStore } from './webhook-endpoint.store.js';

/** Few, since each may have many endpoints and a statement has little time. */
const FAN_OUT_BATCH = 20;
/** Longer than any attempt takes: what is not back by then was left behind by a gateway that died. */
const LEASE_MS = 60_000;

/** The limits of deliveries in flight in this gateway, and the current ones. */
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
   * Due deliveries, from now on this gateway's to send: those of organisations that have the fewest in flight here first,
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

/** $1 now, $2 most events. One statement: an event is marked together with all its deliveries, or not at all. */
const FAN_OUT = `
  WITH event AS (
    SELECT "id", "organisation_id", "workspace_id", "type"
    FROM "webhook_outbox"
    WHERE "dispatched_at" IS NULL
    ORDER BY "created_at"
    LIMIT $2
    FOR UPDATE SKIP LOCKED
  ), delivery AS (
    INSERT INTO "webhook_deliveries" ("organisation_id", "outbox_id", "endpoint_id", "event_type", "next_attempt_at")
    SELECT event."organisation_id", event."id", endpoint."id", event."type", $1::timestamptz
    FROM event
    JOIN "webhook_endpoints" AS endpoint ON endpoint."organisation_id" = event."organisation_id"
    WHERE endpoint."disabled_at" IS NULL
      AND (endpoint."workspace_id" IS NULL OR endpoint."workspace_id" = event."workspace_id")
      AND endpoint."events" && ARRAY[event."type", '*']::text[]
    FOR KEY SHARE OF endpoint
    ON CONFLICT ("outbox_id", "endpoint_id") DO NOTHING
  )
  UPDATE "webhook_outbox" SET "dispatched_at" = $1::timestamptz FROM event WHERE "webhook_outbox"."id" = event."id"`;

/**
 * $1 now, $2 end of the lease, $3 and $4 endpoints and how many of their deliveries run here, $5 most that may run for one
 * endpoint, $6 to $8 the same for organisations, $9 most to claim. Goes from endpoint to endpoint along one index, and takes
 * from each its own share: a long queue behind one neither hides the others nor makes the look at them slow. Organisations
 * take turns, those with fewer deliveries in flight first.
 */
const CLAIM_DUE = `
  WITH RECURSIVE waiting AS (
    (SELECT "endpoint_id" FROM "webhook_deliveries" WHERE "status" = 'pending' ORDER BY "endpoint_id" LIMIT 1)
    UNION ALL
    SELECT (
      SELECT later."endpoint_id" FROM "webhook_deliveries" AS later
      WHERE later."status" = 'pending' AND later."endpoint_id" > waiting."endpoint_id"
      ORDER BY later."endpoint_id" LIMIT 1
    )
    FROM waiting WHERE waiting."endpoint_id" IS NOT NULL
  ), candidate AS MATERIALIZED (
    SELECT delivery.*
    FROM waiting
    LEFT JOIN unnest($3::uuid[], $4::int[]) AS busy ("endpoint_id", "running") USING ("endpoint_id")
    CROSS JOIN LATERAL (
      SELECT "id", "organisation_id", "next_attempt_at"
      FROM "webhook_deliveries"
      WHERE "endpoint_id" = waiting."endpoint_id" AND "status" = 'pending' AND "next_attempt_at" <= $1::timestamptz
      ORDER BY "next_attempt_at"
      LIMIT GREATEST($5::int - COALESCE(busy."running", 0), 0)
      FOR UPDATE SKIP LOCKED
    ) AS delivery
  ), turn AS (
    SELECT "id", "next_attempt_at", COALESCE(busy."running", 0) + row_number() OVER (
      PARTITION BY "organisation_id" ORDER BY "next_attempt_at"
    ) AS "place"
    FROM candidate
    LEFT JOIN unnest($6::uuid[], $7::int[]) AS busy ("organisation_id", "running") USING ("organisation_id")
  ), due AS MATERIALIZED (
    SELECT "id" FROM turn WHERE "place" <= $8::int ORDER BY "place", "next_attempt_at" LIMIT $9
  )
  UPDATE "webhook_deliveries" AS delivery
  SET "claim_id" = gen_random_uuid(), "next_attempt_at" = $2::timestamptz
  FROM due, "webhook_outbox" AS event, "webhook_endpoints" AS endpoint
  WHERE delivery."id" = due."id" AND event."id" = delivery."outbox_id" AND endpoint."id" = delivery."endpoint_id"
  RETURNING
    delivery."id", delivery."claim_id" AS "claimId", delivery."attempts",
    event."id" AS "eventId", event."type", event."created_at" AS "occurredAt", event."payload"::text AS "data",
    endpoint."id" AS "endpointId", endpoint."organisation_id" AS "organisationId",
    endpoint."workspace_id" AS "workspaceId", endpoint."url", endpoint."format", endpoint."disabled_at" AS "disabledAt",
    endpoint."sealed_secret" AS "sealedSecret", endpoint."sealed_previous_secret" AS "sealedPreviousSecret",
    endpoint."previous_secret_valid_until" AS "previousSecretValidUntil"`;
