import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The MCP servers and tools that a key may use. */
export class McpGrants1795690000000 implements MigrationInterface {
  readonly name = 'McpGrants1795690000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE "api_keys" ADD "allowed_mcp_servers" text array, ADD "allowed_mcp_tools" text array',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "api_keys" DROP COLUMN "allowed_mcp_servers", DROP COLUMN "allowed_mcp_tools"');
  }
}
