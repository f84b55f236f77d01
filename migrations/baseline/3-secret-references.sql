CREATE TABLE "secret_references" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "slug" varchar(255) NOT NULL,
  "name" varchar(255) NOT NULL,
  "description" varchar(1024),
  "manager_type" varchar(32) NOT NULL,
  "spelling" varchar(16) NOT NULL,
  "auth_config" jsonb NOT NULL DEFAULT '{}',
  "sealed_auth_config" text,
  "secret_path" varchar(1024) NOT NULL,
  "secret_key" varchar(255),
  "secret_version" varchar(64),
  "allow_all_workspaces" boolean NOT NULL DEFAULT true,
  "allowed_hosts" text array,
  "allowed_providers" text array,
  "tags" jsonb,
  "revision" integer NOT NULL DEFAULT 1,
  "created_by" varchar(255) NOT NULL,
  "last_resolved_at" timestamptz,
  "last_error" varchar(64),
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_secret_references" PRIMARY KEY ("id"),
  CONSTRAINT "fk_secret_references_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id")
);
CREATE UNIQUE INDEX "uq_secret_references_slug" ON "secret_references" ("organisation_id", "slug");

CREATE TABLE "secret_reference_workspaces" (
  "secret_reference_id" uuid NOT NULL,
  "workspace_id" uuid NOT NULL,
  CONSTRAINT "pk_secret_reference_workspaces" PRIMARY KEY ("secret_reference_id", "workspace_id"),
  CONSTRAINT "fk_secret_reference_workspaces_reference" FOREIGN KEY ("secret_reference_id")
    REFERENCES "secret_references" ("id") ON DELETE CASCADE,
  CONSTRAINT "fk_secret_reference_workspaces_workspace" FOREIGN KEY ("workspace_id")
    REFERENCES "workspaces" ("id") ON DELETE CASCADE
);
CREATE INDEX "ix_secret_reference_workspaces_workspace" ON "secret_reference_workspaces" ("workspace_id");

CREATE TABLE "secret_mappings" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "owner_type" varchar(32) NOT NULL,
  "owner_id" uuid NOT NULL,
  "owner_slug" varchar(255) NOT NULL,
  "owner_workspace_id" uuid,
  "target_field" varchar(255) NOT NULL,
  "secret_reference_id" uuid NOT NULL,
  "secret_key" varchar(255),
  "value_format" varchar(8) NOT NULL DEFAULT 'string',
  CONSTRAINT "pk_secret_mappings" PRIMARY KEY ("id"),
  CONSTRAINT "fk_secret_mappings_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
  CONSTRAINT "fk_secret_mappings_reference" FOREIGN KEY ("secret_reference_id") REFERENCES "secret_references" ("id")
);
CREATE UNIQUE INDEX "uq_secret_mappings_owner_field" ON "secret_mappings" ("owner_type", "owner_id", "target_field");
CREATE INDEX "ix_secret_mappings_reference" ON "secret_mappings" ("secret_reference_id");
