import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the last import of each list had, so that the next one can tell what is gone. */
export class CreatePriceImports1795219200070 implements MigrationInterface {
  readonly name = 'CreatePriceImports1795219200070';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "price_imports" (
        "source" character varying(255) NOT NULL,
        "names" text array NOT NULL,
        "imported_at" timestamptz NOT NULL,
        CONSTRAINT "pk_price_imports" PRIMARY KEY ("source")
      )`);
    // Until now only the prices that an import wrote were known to be its own.
    await runner.query(`
      INSERT INTO "price_imports" ("source", "names", "imported_at")
      SELECT "source", array_agg(DISTINCT concat_ws(' ', "provider", "model", "unit")), max("effective_from")
      FROM "prices" WHERE "organisation_id" IS NULL GROUP BY "source"`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "price_imports"`);
  }
}
