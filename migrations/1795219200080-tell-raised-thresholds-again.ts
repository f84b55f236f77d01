import type { MigrationInterface, QueryRunner } from 'typeorm';
import { USAGE_CHANGE_LIMIT as USAGE_CHANGE_LIMIT_BEFORE } from './usage-1795219200030/usage-change-limit.sql.js';
import { USAGE_CHANGE_LIMIT } from './usage-1795219200080/usage-change-limit.sql.js';

/** A threshold that is raised beyond what is used, and lowered again before the next call, is told again. */
export class TellRaisedThresholdsAgain1795219200080 implements MigrationInterface {
  readonly name = 'TellRaisedThresholdsAgain1795219200080';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(USAGE_CHANGE_LIMIT);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(USAGE_CHANGE_LIMIT_BEFORE);
  }
}
