import type { MigrationInterface, QueryRunner } from 'typeorm';
import { USAGE_BATCH as USAGE_BATCH_BEFORE } from './usage-1795219200045/usage-batch.sql.js';
import { USAGE_BATCH } from './usage-1795219200090/usage-batch.sql.js';

/** Calls that cost nothing pass limits that are exceeded, and limits below the price of a call are told as exhausted. */
export class LetFreeCallsPass1795219200090 implements MigrationInterface {
  readonly name = 'LetFreeCallsPass1795219200090';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(USAGE_BATCH);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(USAGE_BATCH_BEFORE);
  }
}
