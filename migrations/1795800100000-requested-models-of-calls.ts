import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The log of calls has the name that the caller wrote, beside the model of the target. */
export class RequestedModelsOfCalls1795800100000 implements MigrationInterface {
  readonly name = 'RequestedModelsOfCalls1795800100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "request_logs" ADD COLUMN "model_requested" character varying(255)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "request_logs" DROP COLUMN "model_requested"');
  }
}
