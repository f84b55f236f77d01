import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A workspace can be deleted once its policies are archived, and these still tell whose they were. */
export class LetGoOfArchivedPolicies1795219200060 implements MigrationInterface {
  readonly name = 'LetGoOfArchivedPolicies1795219200060';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "usage_policies" ADD "active_workspace_id" uuid`);
    await runner.query(`UPDATE "usage_policies" SET "active_workspace_id" = "workspace_id" WHERE "status" = 'active'`);
    await runner.query(`
      ALTER TABLE "usage_policies"
      ADD CONSTRAINT "ck_usage_policies_active_workspace" CHECK (
        "active_workspace_id" IS NOT DISTINCT FROM CASE WHEN "status" = 'active' THEN "workspace_id" END
      ),
      DROP CONSTRAINT "fk_usage_policies_workspace",
      ADD CONSTRAINT "fk_usage_policies_workspace" FOREIGN KEY ("active_workspace_id") REFERENCES "workspaces" ("id")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    // Only callers of the whole organisation still see an archived policy whose workspace is gone.
    await runner.query(`
      UPDATE "usage_policies" AS policy SET "workspace_id" = NULL
      WHERE "status" <> 'active' AND NOT EXISTS (SELECT FROM "workspaces" WHERE "id" = policy."workspace_id")`);
    await runner.query(`
      ALTER TABLE "usage_policies"
      DROP CONSTRAINT "fk_usage_policies_workspace",
      ADD CONSTRAINT "fk_usage_policies_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id"),
      DROP CONSTRAINT "ck_usage_policies_active_workspace",
      DROP COLUMN "active_workspace_id"`);
  }
}
