import type { MigrationInterface, QueryRunner } from 'typeorm';
import { USAGE_CHANGE_LIMIT as USAGE_CHANGE_LIMIT_BEFORE } from './usage-1795219200013/usage-lines.sql.js';
import { USAGE_CHANGE_LIMIT } from './usage-1795219200030/usage-change-limit.sql.js';

/** A change of a policy with very many buckets ends in time, and leaves none locked for as long as calls would wait. */
export class BoundChangesOfLimits1795219200030 implements MigrationInterface {
  readonly name = 'BoundChangesOfLimits1795219200030';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(USAGE_CHANGE_LIMIT);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP FUNCTION usage_change_limit`);
    await runner.query(USAGE_CHANGE_LIMIT_BEFORE);
  }
}
