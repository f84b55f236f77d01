import type { MigrationInterface, QueryRunner } from 'typeorm';
import { USAGE_BATCH as USAGE_BATCH_BEFORE } from './usage-1795219200013/usage-batch.sql.js';
import { USAGE_APPLY as USAGE_APPLY_BEFORE } from './usage-1795219200013/usage-lines.sql.js';
import { USAGE_REAP as USAGE_REAP_BEFORE } from './usage-1795219200013/usage-withdrawal.sql.js';
import { USAGE_APPLY } from './usage-1795219200045/usage-apply.sql.js';
import { USAGE_BATCH } from './usage-1795219200045/usage-batch.sql.js';
import { USAGE_REAP } from './usage-1795219200045/usage-reap.sql.js';

/** A counter that is full takes further calls, and a reservation that cannot be charged keeps no other from it. */
export class KeepCountersWithinBounds1795219200045 implements MigrationInterface {
  readonly name = 'KeepCountersWithinBounds1795219200045';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [USAGE_APPLY, USAGE_BATCH, USAGE_REAP]) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of [USAGE_APPLY_BEFORE, USAGE_BATCH_BEFORE, USAGE_REAP_BEFORE]) await runner.query(statement);
  }
}
