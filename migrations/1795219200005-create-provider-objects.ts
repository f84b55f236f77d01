import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateProviderObjects1795219200005 implements MigrationInterface {
  readonly name = 'CreateProviderObjects1795219200005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "provider_objects" (
        "id" uuid NOT NULL DEFAULT gen_random_uuid(),
        "organisation_id" uuid NOT NULL,
        "workspace_id" uuid,
        "api_key_id" uuid NOT NULL,
        "provider" varchar(64) NOT NULL,
        "kind" varchar(32) NOT NULL,
        "upstream_id" varchar(1024) NOT NULL,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_provider_objects" PRIMARY KEY ("id"),
        CONSTRAINT "fk_provider_objects_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id")
      )`);
    await runner.query(`
      CREATE UNIQUE INDEX "uq_provider_objects_upstream"
      ON "provider_objects" ("organisation_id", "provider", "kind", "upstream_id")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "provider_objects"`);
  }
}
