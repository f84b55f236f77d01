-- One row for each call: who called what, how it ended, and how long it took. No bodies.
CREATE TABLE "request_logs" (
  "id" uuid NOT NULL,
  "created_at" timestamptz NOT NULL,
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "actor_type" varchar(32) NOT NULL,
  "actor_id" varchar(255) NOT NULL,
  "user_id" varchar(255),
  "session" varchar(255),
  "method" varchar(16) NOT NULL,
  "route" varchar(255) NOT NULL,
  "virtual_key" varchar(255),
  "provider" varchar(64),
  "model_requested" varchar(255),
  "model" varchar(255),
  "mcp_server" varchar(255),
  "mcp_method" varchar(128),
  "status" smallint NOT NULL,
  "error_code" varchar(64),
  "outcome" varchar(16) NOT NULL,
  "tokens" bigint,
  "cost_nano" bigint,
  "duration_ms" integer NOT NULL,
  "upstream_ms" integer,
  "first_token_ms" integer,
  "upstream_attempts" integer,
  "trace_id" varchar(128) NOT NULL,
  "metadata" jsonb NOT NULL,
  "bodies_until" timestamptz,
  CONSTRAINT "pk_request_logs" PRIMARY KEY ("id")
);
CREATE INDEX "ix_request_logs_organisation" ON "request_logs" ("organisation_id", "created_at", "id");
CREATE INDEX "ix_request_logs_workspace" ON "request_logs" ("organisation_id", "workspace_id", "created_at", "id");
CREATE INDEX "ix_request_logs_trace" ON "request_logs" ("organisation_id", "trace_id");
CREATE INDEX "ix_request_logs_created_at" ON "request_logs" ("created_at");
CREATE INDEX "ix_request_logs_failed" ON "request_logs" ("organisation_id", "created_at", "id") WHERE "outcome" <> 'ok';

CREATE TABLE "audit_log_entries" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "actor_type" varchar(32) NOT NULL,
  "actor_id" varchar(255) NOT NULL,
  "actor_name" varchar(255),
  "user" jsonb,
  "client_address" varchar(64),
  "action" varchar(64) NOT NULL,
  "resource_type" varchar(64) NOT NULL,
  "resource_id" uuid NOT NULL,
  "resource_name" varchar(2048),
  "changed_fields" text array NOT NULL DEFAULT '{}',
  "changes" jsonb NOT NULL DEFAULT '{}',
  "trace_id" varchar(128),
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_audit_log_entries" PRIMARY KEY ("id")
);
CREATE INDEX "ix_audit_log_entries_tenant" ON "audit_log_entries" ("organisation_id", "created_at");

CREATE TABLE "webhook_endpoints" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "url" varchar(2048) NOT NULL,
  "format" varchar(16) NOT NULL DEFAULT 'standard',
  "events" text array NOT NULL,
  "description" varchar(1024),
  "sealed_secret" text NOT NULL,
  "sealed_previous_secret" text,
  "previous_secret_valid_until" timestamptz,
  "disabled_at" timestamptz,
  "disabled_reason" varchar(32),
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_webhook_endpoints" PRIMARY KEY ("id"),
  CONSTRAINT "fk_webhook_endpoints_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
  CONSTRAINT "fk_webhook_endpoints_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id")
);
CREATE INDEX "ix_webhook_endpoints_tenant" ON "webhook_endpoints" ("organisation_id");

-- Without foreign keys: an event outlives what it is about.
CREATE TABLE "webhook_outbox" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "type" varchar(64) NOT NULL,
  "dedupe_key" varchar(255),
  "payload" jsonb NOT NULL,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "dispatched_at" timestamptz,
  CONSTRAINT "pk_webhook_outbox" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "uq_webhook_outbox_dedupe_key" ON "webhook_outbox" ("dedupe_key");
CREATE INDEX "ix_webhook_outbox_waiting" ON "webhook_outbox" ("created_at") WHERE "dispatched_at" IS NULL;

CREATE TABLE "webhook_deliveries" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "outbox_id" uuid NOT NULL,
  "endpoint_id" uuid NOT NULL,
  "event_type" varchar(64) NOT NULL,
  "status" varchar(16) NOT NULL DEFAULT 'pending',
  "attempts" integer NOT NULL DEFAULT 0,
  "next_attempt_at" timestamptz,
  "claim_id" uuid,
  "last_attempt_at" timestamptz,
  "last_status_code" integer,
  "last_error" varchar(64),
  "last_latency_ms" integer,
  "completed_at" timestamptz,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_webhook_deliveries" PRIMARY KEY ("id"),
  CONSTRAINT "fk_webhook_deliveries_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
  CONSTRAINT "fk_webhook_deliveries_outbox" FOREIGN KEY ("outbox_id") REFERENCES "webhook_outbox" ("id"),
  CONSTRAINT "fk_webhook_deliveries_endpoint" FOREIGN KEY ("endpoint_id")
    REFERENCES "webhook_endpoints" ("id") ON DELETE CASCADE
);
CREATE UNIQUE INDEX "uq_webhook_deliveries_outbox_endpoint" ON "webhook_deliveries" ("outbox_id", "endpoint_id");
CREATE INDEX "ix_webhook_deliveries_log" ON "webhook_deliveries" ("endpoint_id", "created_at");
CREATE INDEX "ix_webhook_deliveries_due" ON "webhook_deliveries" ("endpoint_id", "next_attempt_at")
WHERE "status" = 'pending';
CREATE INDEX "ix_webhook_deliveries_succeeded" ON "webhook_deliveries" ("completed_at") WHERE "status" = 'succeeded';
