import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreatePrices1795219200010 implements MigrationInterface {
  readonly name = 'CreatePrices1795219200010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "prices" (
        "id" uuid NOT NULL DEFAULT gen_random_uuid(),
        "organisation_id" uuid,
        "provider" varchar(64) NOT NULL,
        "model" varchar(512) NOT NULL,
        "unit" varchar(32) NOT NULL,
        "price" numeric(38,18) NOT NULL,
        "effective_from" timestamptz NOT NULL,
        "source" varchar(255) NOT NULL,
        "created_by" varchar(255) NOT NULL,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_prices" PRIMARY KEY ("id"),
        CONSTRAINT "fk_prices_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id")
      )`);
    await runner.query(`CREATE INDEX "ix_prices_organisation" ON "prices" ("organisation_id", "effective_from")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "prices"`);
  }
}
