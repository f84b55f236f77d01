import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the calls of a model route may write. */
export class OutputsOfModelRoutes1795690600000 implements MigrationInterface {
  readonly name = 'OutputsOfModelRoutes1795690600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "model_routes"
        ADD COLUMN "max_output_tokens" integer,
        ADD COLUMN "clamp_output" boolean NOT NULL DEFAULT false`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "model_routes" DROP COLUMN "max_output_tokens", DROP COLUMN "clamp_output"');
  }
}
