CREATE TABLE "api_keys" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "name" varchar(255) NOT NULL,
  "type" varchar(16) NOT NULL,
  "scopes" text array NOT NULL,
  "user" jsonb,
  "metadata" jsonb NOT NULL DEFAULT '{}',
  "rate_limits" jsonb NOT NULL DEFAULT '[]',
  "expires_at" timestamptz,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_api_keys" PRIMARY KEY ("id"),
  CONSTRAINT "fk_api_keys_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
  CONSTRAINT "fk_api_keys_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id")
);
CREATE INDEX "ix_api_keys_tenant" ON "api_keys" ("organisation_id", "workspace_id", "created_at");

CREATE TABLE "api_key_secrets" (
  "public_id" varchar(8) NOT NULL,
  "api_key_id" uuid NOT NULL,
  "hash" bytea NOT NULL,
  "valid_until" timestamptz,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_api_key_secrets" PRIMARY KEY ("public_id"),
  CONSTRAINT "fk_api_key_secrets_api_key" FOREIGN KEY ("api_key_id") REFERENCES "api_keys" ("id") ON DELETE CASCADE
);
CREATE INDEX "ix_api_key_secrets_api_key" ON "api_key_secrets" ("api_key_id");

CREATE TABLE "virtual_keys" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "slug" varchar(255) NOT NULL,
  "name" varchar(255) NOT NULL,
  "description" varchar(1024),
  "provider" varchar(64) NOT NULL,
  "options" jsonb NOT NULL DEFAULT '{}',
  "sealed_key" text,
  "sealed_options" text,
  "expires_at" timestamptz,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_virtual_keys" PRIMARY KEY ("id"),
  CONSTRAINT "fk_virtual_keys_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
  CONSTRAINT "fk_virtual_keys_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id")
);
CREATE UNIQUE INDEX "uq_virtual_keys_workspace_slug" ON "virtual_keys" ("organisation_id", "workspace_id", "slug")
WHERE "workspace_id" IS NOT NULL;
CREATE UNIQUE INDEX "uq_virtual_keys_organisation_slug" ON "virtual_keys" ("organisation_id", "slug")
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
