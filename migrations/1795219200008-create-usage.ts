import type { MigrationInterface, QueryRunner } from 'typeorm';
import { USAGE_APPLY, USAGE_EVENT_DATA, USAGE_REAP, USAGE_RESET } from './usage/usage-changes.sql.js';
import { USAGE_BATCH } from './usage/usage-batch.sql.js';
import { USAGE_MAKE_PARTITIONS } from './usage/usage-partitions.sql.js';

/** Months for which the ledger gets partitions at once; the gateway makes the later ones in time. */
const MONTHS_AHEAD = 2;

/** Who called what, and the figures: the same in a reservation (what is expected) and in the ledger (what it was). */
const FACTS = `
        "organisation_id" uuid NOT NULL,
        "workspace_id" uuid,
        "api_key_id" varchar(255) NOT NULL,
        "virtual_key" varchar(255),
        "provider" varchar(64),
        "model" varchar(255),
        "endpoint" varchar(64) NOT NULL,
        "mcp_server" varchar(255),
        "mcp_tool" varchar(255),
        "metadata" jsonb NOT NULL DEFAULT '{}',
        "trace_id" varchar(128) NOT NULL,
        "attempt" integer NOT NULL DEFAULT 1,
        "cost_nano" bigint NOT NULL,
        "tokens" bigint NOT NULL,
        "search_units" bigint NOT NULL,
        "source" varchar(16) NOT NULL,
        "price_id" uuid`;

/**
 * Counters, what is under way, the ledger and its corrections. No foreign keys to policies and organisations: each would
 * be looked up and locked for every call, and the ledger outlives both.
 */
export class CreateUsage1795219200008 implements MigrationInterface {
  readonly name = 'CreateUsage1795219200008';

  async up(runner: QueryRunner): Promise<void> {
    // Counted in place thousands of times: half of each page is left free, so that no index is touched (HOT updates).
    // "ordinal" counts the buckets of a policy and window, which makes the cap on them one look-up in an index.
    await runner.query(`
      CREATE TABLE "usage_buckets" (
        "policy_id" uuid NOT NULL,
        "bucket_hash" varchar(22) NOT NULL,
        "window_id" varchar(16) NOT NULL,
        "id" uuid NOT NULL,
        "ordinal" integer NOT NULL,
        "organisation_id" uuid NOT NULL,
        "workspace_id" uuid,
        "value_key" varchar(2048) NOT NULL,
        "unit" varchar(8) NOT NULL,
        "used" bigint NOT NULL DEFAULT 0,
        "reserved" bigint NOT NULL DEFAULT 0,
        "credit_limit" bigint NOT NULL,
        "alert_threshold" bigint,
        "epoch" integer NOT NULL DEFAULT 0,
        "reset_at" timestamptz,
        "resets_at" timestamptz,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        "updated_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_usage_buckets" PRIMARY KEY ("policy_id", "bucket_hash", "window_id")
      ) WITH (fillfactor = 50)`);
    await runner.query(`CREATE UNIQUE INDEX "uq_usage_buckets_id" ON "usage_buckets" ("id")`);
    await runner.query(`
      CREATE UNIQUE INDEX "uq_usage_buckets_ordinal" ON "usage_buckets" ("policy_id", "window_id", "ordinal")`);
    await runner.query(`
      CREATE TABLE "usage_reservations" (
        "id" uuid NOT NULL,
        "at" timestamptz NOT NULL,
        "expires_at" timestamptz NOT NULL,${FACTS},
        "bucket_ids" uuid array NOT NULL,
        "units" text array NOT NULL,
        "amounts" bigint array NOT NULL,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_usage_reservations" PRIMARY KEY ("id")
      ) WITH (fillfactor = 90)`);
    await runner.query(`CREATE INDEX "ix_usage_reservations_expires_at" ON "usage_reservations" ("expires_at")`);
    await runner.query(`
      CREATE TABLE "usage_events" (
        "id" uuid NOT NULL,
        "at" timestamptz NOT NULL,
        "status" varchar(16) NOT NULL,${FACTS},
        "bucket_ids" uuid array NOT NULL,
        "amounts" bigint array NOT NULL,
        "charged_at" timestamptz NOT NULL DEFAULT clock_timestamp(),
        CONSTRAINT "pk_usage_events" PRIMARY KEY ("id", "at")
      ) PARTITION BY RANGE ("at")`);
    await runner.query(`CREATE INDEX "ix_usage_events_organisation" ON "usage_events" ("organisation_id", "at")`);
    // What falls into no month's partition is never refused.
    await runner.query(`CREATE TABLE "usage_events_other" PARTITION OF "usage_events" DEFAULT`);
    await runner.query(`
      CREATE TABLE "usage_adjustments" (
        "id" uuid NOT NULL DEFAULT gen_random_uuid(),
        "bucket_id" uuid NOT NULL,
        "organisation_id" uuid NOT NULL,
        "delta" bigint NOT NULL,
        "epoch" integer NOT NULL,
        "actor_id" varchar(255) NOT NULL,
        "reason" varchar(255) NOT NULL,
        "at" timestamptz NOT NULL,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_usage_adjustments" PRIMARY KEY ("id")
      )`);
    await runner.query(`CREATE INDEX "ix_usage_adjustments_bucket" ON "usage_adjustments" ("bucket_id")`);
    const functions = [USAGE_MAKE_PARTITIONS, USAGE_EVENT_DATA, USAGE_APPLY, USAGE_BATCH, USAGE_REAP, USAGE_RESET];
    for (const statement of functions) await runner.query(statement);
    await runner.query(`SELECT usage_make_partitions(now(), $1)`, [MONTHS_AHEAD]);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DROP FUNCTION usage_reset, usage_reap, usage_batch, usage_apply, usage_event_data, usage_make_partitions`,
    );
    await runner.query(`DROP TABLE "usage_adjustments"`);
    await runner.query(`DROP TABLE "usage_events"`);
    await runner.query(`DROP TABLE "usage_reservations"`);
    await runner.query(`DROP TABLE "usage_buckets"`);
  }
}
