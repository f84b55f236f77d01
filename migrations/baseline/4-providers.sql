-- Names of models that lead to models of virtual keys.
CREATE TABLE "model_routes" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "slug" varchar(255) NOT NULL,
  "name" varchar(255) NOT NULL,
  "description" varchar(1024),
  "targets" jsonb NOT NULL,
  "max_output_tokens" integer,
  "clamp_output" boolean NOT NULL DEFAULT false,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_model_routes" PRIMARY KEY ("id"),
  CONSTRAINT "fk_model_routes_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
  CONSTRAINT "fk_model_routes_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id")
);
CREATE UNIQUE INDEX "uq_model_routes_workspace_slug" ON "model_routes" ("organisation_id", "workspace_id", "slug")
WHERE "workspace_id" IS NOT NULL;
CREATE UNIQUE INDEX "uq_model_routes_organisation_slug" ON "model_routes" ("organisation_id", "slug")
WHERE "workspace_id" IS NULL;
CREATE UNIQUE INDEX "uq_model_routes_workspace_name" ON "model_routes" ("organisation_id", "workspace_id", "name")
WHERE "workspace_id" IS NOT NULL;
CREATE UNIQUE INDEX "uq_model_routes_organisation_name" ON "model_routes" ("organisation_id", "name")
WHERE "workspace_id" IS NULL;

CREATE TABLE "provider_objects" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "api_key_id" uuid NOT NULL,
  "provider" varchar(64) NOT NULL,
  "server" varchar(43),
  "kind" varchar(32) NOT NULL,
  "upstream_id" varchar(1024) NOT NULL,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_provider_objects" PRIMARY KEY ("id"),
  CONSTRAINT "fk_provider_objects_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id")
);
CREATE UNIQUE INDEX "uq_provider_objects_upstream"
ON "provider_objects" ("organisation_id", "provider", "server", "kind", "upstream_id");

-- Work that a provider does, and bills, after it has answered: batches, fine-tuning, runs.
CREATE TABLE "provider_jobs" (
  "id" uuid NOT NULL,
  "organisation_id" uuid NOT NULL,
  "kind" varchar(32) NOT NULL,
  "virtual_key_id" uuid NOT NULL,
  "provider" varchar(64) NOT NULL,
  "server" varchar(43) NOT NULL,
  "account" jsonb NOT NULL,
  "upstream_id" varchar(1024),
  "traits" jsonb NOT NULL,
  "dimensions" jsonb NOT NULL,
  "parts" jsonb NOT NULL,
  "charges" jsonb,
  "at" timestamptz NOT NULL,
  "ends_at" timestamptz NOT NULL,
  "next_check_at" timestamptz,
  "claim_id" uuid,
  "settled_at" timestamptz,
  CONSTRAINT "pk_provider_jobs" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "uq_provider_jobs_upstream"
ON "provider_jobs" ("organisation_id", "provider", "server", "kind", "upstream_id");
CREATE INDEX "ix_provider_jobs_next_check_at" ON "provider_jobs" ("next_check_at");
CREATE INDEX "ix_provider_jobs_settled_at" ON "provider_jobs" ("settled_at");

-- The virtual key whose account keeps a response.
CREATE TABLE "response_pins" (
  "organisation_id" uuid NOT NULL,
  "response_id" varchar(255) NOT NULL,
  "virtual_key_id" uuid NOT NULL,
  "created_at" timestamptz NOT NULL,
  CONSTRAINT "pk_response_pins" PRIMARY KEY ("organisation_id", "response_id")
);
CREATE INDEX "ix_response_pins_created_at" ON "response_pins" ("created_at");
