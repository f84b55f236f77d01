import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Gives policies a slug. An archived policy gives its slug away. */
export class UsagePolicySlugs1795219250001 implements MigrationInterface {
  readonly name = 'UsagePolicySlugs1795219250001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "usage_policies" ADD "slug" varchar(255)');
    await runner.query(`UPDATE "usage_policies" SET "slug" = 'limit-' || replace("id"::text, '-', '')`);
    await runner.query('ALTER TABLE "usage_policies" ALTER "slug" SET NOT NULL');
    await runner.query(`
      CREATE UNIQUE INDEX "uq_usage_policies_workspace_slug" ON "usage_policies" ("organisation_id", "workspace_id", "slug")
      WHERE "workspace_id" IS NOT NULL AND "status" = 'active'`);
    await runner.query(`
      CREATE UNIQUE INDEX "uq_usage_policies_organisation_slug" ON "usage_policies" ("organisation_id", "slug")
      WHERE "workspace_id" IS NULL AND "status" = 'active'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "usage_policies" DROP COLUMN "slug"');
  }
}
