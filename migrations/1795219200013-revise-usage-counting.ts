import type { MigrationInterface, QueryRunner } from 'typeorm';
import { USAGE_BATCH as USAGE_BATCH_BEFORE } from './usage/usage-batch.sql.js';
import { USAGE_BATCH } from './usage-1795219200013/usage-batch.sql.js';

/** Batches look their buckets up by the primary key, whatever the planner knows of the table, and compile nothing. */
export class ReviseUsageCounting1795219200013 implements MigrationInterface {
  readonly name = 'ReviseUsageCounting1795219200013';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(USAGE_BATCH);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION usage_batch`);
    await runner.query(USAGE_BATCH_BEFORE);
  }
}
