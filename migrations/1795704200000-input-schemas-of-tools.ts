import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a tool takes, as its server last listed it. `json`, not `jsonb`: the order of the fields is that of a form. */
export class InputSchemasOfTools1795704200000 implements MigrationInterface {
  readonly name = 'InputSchemasOfTools1795704200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "mcp_server_tools" ADD COLUMN "input_schema" json');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "mcp_server_tools" DROP COLUMN "input_schema"');
  }
}
