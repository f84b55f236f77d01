import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateVirtualKeys1795219200003 implements MigrationInterface {
  readonly name = 'CreateVirtualKeys1795219200003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
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
      )`);
    await runner.query(`
      CREATE UNIQUE INDEX "uq_virtual_keys_workspace_slug" ON "virtual_keys" ("organisation_id", "workspace_id", "slug")
      WHERE "workspace_id" IS NOT NULL`);
    await runner.query(`
      CREATE UNIQUE INDEX "uq_virtual_keys_organisation_slug" ON "virtual_keys" ("organisation_id", "slug")
      WHERE "workspace_id" IS NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "virtual_keys"`);
  }
}
