-- "active_workspace_id" lets a workspace be deleted once its policies are archived.
CREATE TABLE "usage_policies" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "active_workspace_id" uuid,
  "slug" varchar(255) NOT NULL,
  "name" varchar(255),
  "description" varchar(1024),
  "conditions" jsonb NOT NULL,
  "group_by" text array NOT NULL,
  "type" varchar(16) NOT NULL,
  "credit_limit" numeric NOT NULL,
  "alert_threshold" numeric,
  "periodic_reset" varchar(16),
  "enforcement" varchar(16) NOT NULL DEFAULT 'strict',
  "unbounded" varchar(16) NOT NULL DEFAULT 'refuse',
  "status" varchar(16) NOT NULL DEFAULT 'active',
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_usage_policies" PRIMARY KEY ("id"),
  CONSTRAINT "fk_usage_policies_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
  CONSTRAINT "fk_usage_policies_workspace" FOREIGN KEY ("active_workspace_id") REFERENCES "workspaces" ("id"),
  CONSTRAINT "ck_usage_policies_active_workspace" CHECK (
    "active_workspace_id" IS NOT DISTINCT FROM CASE WHEN "status" = 'active' THEN "workspace_id" END
  )
);
CREATE UNIQUE INDEX "uq_usage_policies_workspace_slug" ON "usage_policies" ("organisation_id", "workspace_id", "slug")
WHERE "workspace_id" IS NOT NULL AND "status" = 'active';
CREATE UNIQUE INDEX "uq_usage_policies_organisation_slug" ON "usage_policies" ("organisation_id", "slug")
WHERE "workspace_id" IS NULL AND "status" = 'active';
CREATE INDEX "ix_usage_policies_tenant" ON "usage_policies" ("organisation_id", "status");

CREATE TABLE "prices" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid,
  "provider" varchar(64) NOT NULL,
  "model" varchar(512) NOT NULL,
  "unit" varchar(32) NOT NULL,
  "mode" varchar(16) NOT NULL DEFAULT 'standard',
  "min_input_tokens" integer NOT NULL DEFAULT 0,
  "price" numeric(38,18) NOT NULL,
  "effective_from" timestamptz NOT NULL,
  "source" varchar(255) NOT NULL,
  "created_by" varchar(255) NOT NULL,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_prices" PRIMARY KEY ("id"),
  CONSTRAINT "fk_prices_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id")
);
CREATE INDEX "ix_prices_organisation" ON "prices" ("organisation_id", "effective_from");

CREATE TABLE "price_imports" (
  "source" varchar(255) NOT NULL,
  "names" text array NOT NULL,
  "imported_at" timestamptz NOT NULL,
  CONSTRAINT "pk_price_imports" PRIMARY KEY ("source")
);
