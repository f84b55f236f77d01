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

CREATE TABLE "api_keys" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "name" varchar(255) NOT NULL,
  "description" varchar(1024),
  "prefix" varchar(16) NOT NULL,
  "type" varchar(16) NOT NULL,
  "scopes" text array NOT NULL,
  "user" jsonb,
  "metadata" jsonb NOT NULL DEFAULT '{}',
  "rate_limits" jsonb NOT NULL DEFAULT '[]',
  "allowed_models" text array,
  "allowed_virtual_keys" uuid array,
  "default_virtual_key_id" uuid,
  "allowed_mcp_servers" text array,
  "allowed_mcp_tools" text array,
  "created_by" varchar(255),
  "last_used_at" timestamptz,
  "expires_at" timestamptz,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_api_keys" PRIMARY KEY ("id"),
  CONSTRAINT "fk_api_keys_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
  CONSTRAINT "fk_api_keys_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id"),
  CONSTRAINT "fk_api_keys_default_virtual_key" FOREIGN KEY ("default_virtual_key_id") REFERENCES "virtual_keys" ("id")
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

-- Of a browser: logged in with an API key ("secret_id"), or as a person of an identity provider ("subject").
CREATE TABLE "sessions" (
  "id" uuid NOT NULL,
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "api_key_id" uuid,
  "secret_id" varchar(8),
  "issuer" varchar(2048),
  "subject" varchar(255),
  "person" jsonb,
  "client_address" varchar(64),
  "user_agent" varchar(512),
  "expires_at" timestamptz NOT NULL,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_sessions" PRIMARY KEY ("id"),
  CONSTRAINT "fk_sessions_secret" FOREIGN KEY ("secret_id") REFERENCES "api_key_secrets" ("public_id") ON DELETE CASCADE,
  CONSTRAINT "fk_sessions_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE,
  CONSTRAINT "ck_sessions_owner" CHECK (("secret_id" IS NULL) <> ("subject" IS NULL))
);
CREATE INDEX "ix_sessions_api_key" ON "sessions" ("api_key_id");
CREATE INDEX "ix_sessions_secret" ON "sessions" ("secret_id");
CREATE INDEX "ix_sessions_expires_at" ON "sessions" ("expires_at");
CREATE INDEX "ix_sessions_workspace" ON "sessions" ("workspace_id");
CREATE INDEX "ix_sessions_subject" ON "sessions" ("subject", "issuer");

-- Answers of creates, for a day, so that a repeated request gets the same answer.
CREATE TABLE "idempotency_keys" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "key_hash" bytea NOT NULL,
  "request_hash" bytea NOT NULL,
  "resource_id" uuid NOT NULL,
  "sealed_answer" text,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_idempotency_keys" PRIMARY KEY ("id"),
  CONSTRAINT "fk_idempotency_keys_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id")
);
CREATE UNIQUE INDEX "uq_idempotency_keys_key" ON "idempotency_keys" ("organisation_id", "key_hash");
CREATE INDEX "ix_idempotency_keys_created_at" ON "idempotency_keys" ("created_at");
