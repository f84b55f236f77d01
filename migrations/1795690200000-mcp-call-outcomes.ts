import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How calls of MCP servers ended, and what administrators search them by. */
export class McpCallOutcomes1795690200000 implements MigrationInterface {
  readonly name = 'McpCallOutcomes1795690200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      `ALTER TABLE "mcp_calls" ADD "outcome" varchar(16) NOT NULL DEFAULT 'ok', ADD "rpc_error_code" integer`,
    );
    await runner.query(`UPDATE "mcp_calls" SET "outcome" = 'gateway_error' WHERE "error_code" IS NOT NULL`);
    await runner.query(`
      CREATE INDEX "ix_mcp_calls_user" ON "mcp_calls" ("organisation_id", "server_id", "user_id", "created_at")
      WHERE "user_id" IS NOT NULL`);
    await runner.query(`
      CREATE INDEX "ix_mcp_calls_tool" ON "mcp_calls" ("organisation_id", "server_id", "tool", "created_at")
      WHERE "tool" IS NOT NULL`);
    await runner.query(`
      CREATE INDEX "ix_mcp_calls_failed" ON "mcp_calls" ("organisation_id", "server_id", "created_at")
      WHERE "outcome" <> 'ok'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX "ix_mcp_calls_failed", "ix_mcp_calls_tool", "ix_mcp_calls_user"');
    await runner.query('ALTER TABLE "mcp_calls" DROP COLUMN "rpc_error_code", DROP COLUMN "outcome"');
  }
}
