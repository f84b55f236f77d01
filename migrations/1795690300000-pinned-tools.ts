import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the tools of MCP servers are, since when, and what was accepted. */
export class PinnedTools1795690300000 implements MigrationInterface {
  readonly name = 'PinnedTools1795690300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "mcp_servers" ADD "pin" boolean NOT NULL DEFAULT false');
    await runner.query(
      'ALTER TABLE "mcp_server_tools" ADD "hash" varchar(43), ADD "accepted_hash" varchar(43), ADD "changed_at" timestamptz',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE "mcp_server_tools" DROP COLUMN "changed_at", DROP COLUMN "accepted_hash", DROP COLUMN "hash"',
    );
    await runner.query('ALTER TABLE "mcp_servers" DROP COLUMN "pin"');
  }
}
