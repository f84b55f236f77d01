CREATE TABLE "mcp_servers" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "slug" varchar(255) NOT NULL,
  "name" varchar(255) NOT NULL,
  "description" varchar(1024),
  "url" varchar(2048) NOT NULL,
  "transport" varchar(32) NOT NULL,
  "auth_type" varchar(32) NOT NULL,
  "sealed_secrets" text,
  "user_identity_forwarding" jsonb,
  "jwt_validation" jsonb,
  "forward_headers" jsonb,
  "allowed_origins" text array NOT NULL DEFAULT '{}',
  "timeouts" jsonb NOT NULL DEFAULT '{}',
  "audience_digest" varchar(43),
  "pin" boolean NOT NULL DEFAULT false,
  "enabled" boolean NOT NULL DEFAULT true,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_mcp_servers" PRIMARY KEY ("id"),
  CONSTRAINT "fk_mcp_servers_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
  CONSTRAINT "fk_mcp_servers_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id")
);
CREATE UNIQUE INDEX "uq_mcp_servers_workspace_slug" ON "mcp_servers" ("organisation_id", "workspace_id", "slug")
WHERE "workspace_id" IS NOT NULL;
CREATE UNIQUE INDEX "uq_mcp_servers_organisation_slug" ON "mcp_servers" ("organisation_id", "slug")
WHERE "workspace_id" IS NULL;
CREATE INDEX "ix_mcp_servers_slug" ON "mcp_servers" ("slug");
CREATE UNIQUE INDEX "uq_mcp_servers_audience" ON "mcp_servers" ("audience_digest") WHERE "audience_digest" IS NOT NULL;

-- "input_schema" is json, not jsonb: the order of the fields is that of a form.
CREATE TABLE "mcp_server_tools" (
  "server_id" uuid NOT NULL,
  "name" varchar(255) NOT NULL,
  "enabled" boolean NOT NULL DEFAULT true,
  "description" text,
  "input_schema" json,
  "hash" varchar(43),
  "accepted_hash" varchar(43),
  "changed_at" timestamptz,
  "seen_at" timestamptz,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_mcp_server_tools" PRIMARY KEY ("server_id", "name"),
  CONSTRAINT "fk_mcp_server_tools_server" FOREIGN KEY ("server_id") REFERENCES "mcp_servers" ("id") ON DELETE CASCADE
);

CREATE TABLE "mcp_calls" (
  "id" uuid NOT NULL,
  "organisation_id" uuid NOT NULL,
  "workspace_id" uuid,
  "server_id" uuid NOT NULL,
  "server_slug" varchar(255) NOT NULL,
  "caller_type" varchar(32) NOT NULL,
  "caller_id" varchar(255) NOT NULL,
  "user_id" varchar(255),
  "http_method" varchar(16) NOT NULL,
  "rpc_method" varchar(128),
  "tool" varchar(255),
  "status" integer NOT NULL,
  "error_code" varchar(64),
  "outcome" varchar(16) NOT NULL DEFAULT 'ok',
  "rpc_error_code" integer,
  "first_byte_ms" integer,
  "total_ms" integer NOT NULL,
  "bytes_in" bigint NOT NULL,
  "bytes_out" bigint NOT NULL,
  "trace_id" varchar(128),
  "created_at" timestamptz NOT NULL,
  CONSTRAINT "pk_mcp_calls" PRIMARY KEY ("id")
);
CREATE INDEX "ix_mcp_calls_server" ON "mcp_calls" ("organisation_id", "server_id", "created_at");
CREATE INDEX "ix_mcp_calls_created_at" ON "mcp_calls" ("created_at");
CREATE INDEX "ix_mcp_calls_user" ON "mcp_calls" ("organisation_id", "server_id", "user_id", "created_at")
WHERE "user_id" IS NOT NULL;
CREATE INDEX "ix_mcp_calls_tool" ON "mcp_calls" ("organisation_id", "server_id", "tool", "created_at")
WHERE "tool" IS NOT NULL;
CREATE INDEX "ix_mcp_calls_failed" ON "mcp_calls" ("organisation_id", "server_id", "created_at")
WHERE "outcome" <> 'ok';
