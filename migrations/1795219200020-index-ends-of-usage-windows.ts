import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For finding counters of windows that are over. The column never changes, so that updates stay within their page (HOT). */
export class IndexEndsOfUsageWindows1795219200020 implements MigrationInterface {
  readonly name = 'IndexEndsOfUsageWindows1795219200020';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`CREATE INDEX "ix_usage_buckets_resets_at" ON "usage_buckets" ("resets_at")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP INDEX "ix_usage_buckets_resets_at"`);
  }
}
