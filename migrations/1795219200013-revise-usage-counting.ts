import type { MigrationInterface, QueryRunner } from 'typeorm';
import {
  USAGE_APPLY as USAGE_APPLY_BEFORE,
  USAGE_REAP as USAGE_REAP_BEFORE,
  USAGE_RESET as USAGE_RESET_BEFORE,
} from './usage/usage-changes.sql.js';
import { USAGE_BATCH as USAGE_BATCH_BEFORE } from './usage/usage-batch.sql.js';
import { USAGE_BATCH } from './usage-1795219200013/usage-batch.sql.js';
import { USAGE_APPLY, USAGE_CHANGE_LIMIT, USAGE_SET_LINES } from './usage-1795219200013/usage-lines.sql.js';
import { USAGE_RESET } from './usage-1795219200013/usage-reset.sql.js';
import { USAGE_REAP } from './usage-1795219200013/usage-withdrawal.sql.js';

const FUNCTIONS = [USAGE_SET_LINES, USAGE_CHANGE_LIMIT, USAGE_APPLY, USAGE_BATCH, USAGE_REAP, USAGE_RESET];
const FUNCTIONS_BEFORE = [USAGE_APPLY_BEFORE, USAGE_BATCH_BEFORE, USAGE_REAP_BEFORE, USAGE_RESET_BEFORE];

/**
 * Buckets are marked when they reach a line, so that each alert is raised once, also by a refusal or by a line that moves.
 * A release that comes before its reservation keeps it from being written. Batches look their buckets up by the primary
 * key, whatever the planner knows of the table, and compile nothing.
 */
export class ReviseUsageCounting1795219200013 implements MigrationInterface {
  readonly name = 'ReviseUsageCounting1795219200013';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "usage_buckets" ADD "threshold_reached_at" timestamptz, ADD "exhausted_at" timestamptz`);
    await runner.query(`ALTER TABLE "usage_reservations" ADD "is_withdrawn" boolean NOT NULL DEFAULT false`);
    for (const statement of FUNCTIONS) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DROP FUNCTION usage_reset, usage_reap, usage_batch, usage_apply, usage_change_limit, usage_set_lines`,
    );
    await runner.query(`DELETE FROM "usage_reservations" WHERE "is_withdrawn"`);
    await runner.query(`ALTER TABLE "usage_reservations" DROP "is_withdrawn"`);
    await runner.query(`ALTER TABLE "usage_buckets" DROP "threshold_reached_at", DROP "exhausted_at"`);
    for (const statement of FUNCTIONS_BEFORE) await runner.query(statement);
  }
}
