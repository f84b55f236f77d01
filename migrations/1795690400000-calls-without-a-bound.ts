import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a usage limit does with calls whose usage has no bound before they are made. */
export class CallsWithoutABound1795690400000 implements MigrationInterface {
  readonly name = 'CallsWithoutABound1795690400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "usage_policies" ADD "unbounded" varchar(16) NOT NULL DEFAULT 'refuse'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "usage_policies" DROP COLUMN "unbounded"');
  }
}
