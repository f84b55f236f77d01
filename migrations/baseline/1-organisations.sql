CREATE TABLE "organisations" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "slug" varchar(255) NOT NULL,
  "name" varchar(255) NOT NULL,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_organisations" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "uq_organisations_slug" ON "organisations" ("slug");

CREATE TABLE "workspaces" (
  "id" uuid NOT NULL DEFAULT gen_random_uuid(),
  "organisation_id" uuid NOT NULL,
  "slug" varchar(255) NOT NULL,
  "name" varchar(255) NOT NULL,
  "description" varchar(1024),
  "defaults" jsonb NOT NULL DEFAULT '{}',
  "log_bodies" jsonb,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  "updated_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_workspaces" PRIMARY KEY ("id"),
  CONSTRAINT "fk_workspaces_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id")
);
CREATE UNIQUE INDEX "uq_workspaces_slug" ON "workspaces" ("organisation_id", "slug");

CREATE TABLE "server_secrets" (
  "name" varchar(64) NOT NULL,
  "sealed_value" text NOT NULL,
  "created_at" timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT "pk_server_secrets" PRIMARY KEY ("name")
);
