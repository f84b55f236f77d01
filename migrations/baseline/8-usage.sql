-- Reservations (bounds of calls in flight) and the ledger (what was used) have columns in common: who called what, and figures.
-- "quantities" has a whole number for each unit that is known (src/usage/units.ts), so that a new unit needs no migration;
-- "tokens" is the sum of those that are tokens, which policies count; "mode", "tier" and "price_ids" say by which prices the
-- cost was computed. No foreign keys to policies and organisations: each would be looked up and locked for every call, and
-- the ledger outlives both.

-- Counted in place thousands of times: half of each page is left free, so that no index is touched (HOT updates).
-- "ordinal" counts the buckets of a policy and window, which makes the cap on them one look-up in an index.
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
  "threshold_reached_at" timestamptz,
  "exhausted_at" timestamptz,
  "epoch" integer NOT NULL DEFAULT 0,
  "reset_at" timestamptz,
  "resets_at" timestamptz,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_usage_buckets" PRIMARY KEY ("policy_id", "bucket_hash", "window_id")
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX "uq_usage_buckets_id" ON "usage_buckets" ("id");
CREATE UNIQUE INDEX "uq_usage_buckets_ordinal" ON "usage_buckets" ("policy_id", "window_id", "ordinal");
CREATE INDEX "ix_usage_buckets_resets_at" ON "usage_buckets" ("resets_at");

CREATE TABLE "usage_reservations" (
  "id" uuid NOT NULL,
  "at" timestamptz NOT NULL,
  "expires_at" timestamptz NOT NULL,
  "is_withdrawn" boolean NOT NULL DEFAULT false,
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
  "quantities" jsonb NOT NULL DEFAULT '{}',
  "mode" varchar(16) NOT NULL DEFAULT 'standard',
  "tier" integer NOT NULL DEFAULT 0,
  "price_ids" uuid array NOT NULL DEFAULT '{}',
  "bucket_ids" uuid array NOT NULL,
  "units" text array NOT NULL,
  "amounts" bigint array NOT NULL,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_usage_reservations" PRIMARY KEY ("id")
) WITH (fillfactor = 90);
CREATE INDEX "ix_usage_reservations_expires_at" ON "usage_reservations" ("expires_at");

CREATE TABLE "usage_events" (
  "id" uuid NOT NULL,
  "at" timestamptz NOT NULL,
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
  "quantities" jsonb NOT NULL DEFAULT '{}',
  "mode" varchar(16) NOT NULL DEFAULT 'standard',
  "tier" integer NOT NULL DEFAULT 0,
  "price_ids" uuid array NOT NULL DEFAULT '{}',
  "source" varchar(16) NOT NULL,
  "outcome" varchar(16) NOT NULL,
  "first_token_ms" integer,
  "bucket_ids" uuid array NOT NULL,
  "amounts" bigint array NOT NULL,
  "charged_at" timestamptz NOT NULL DEFAULT clock_timestamp(),
  CONSTRAINT "pk_usage_events" PRIMARY KEY ("id", "at")
) PARTITION BY RANGE ("at");
CREATE INDEX "ix_usage_events_organisation" ON "usage_events" ("organisation_id", "at");

-- Takes the rows that fall into no month's partition.
CREATE TABLE "usage_events_other" PARTITION OF "usage_events" DEFAULT;

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
);
CREATE INDEX "ix_usage_adjustments_bucket" ON "usage_adjustments" ("bucket_id");
