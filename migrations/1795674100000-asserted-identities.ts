import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Every scope of the baseline. A list of its own: the present one goes on changing. */
const EARLIER = [
  ['workspaces api_keys virtual_keys secret_references webhooks policies', 'create read update delete list'],
  ['batches threads mcp_servers', 'create read update delete list'],
  ['fine_tuning', 'create read update list'],
  ['prices', 'create read list'],
  ['completions', 'write'],
  ['mcp', 'invoke'],
  ['usage', 'read'],
  ['audit_logs', 'list'],
].flatMap(([resources = '', verbs = '']) =>
  resources.split(' ').flatMap((resource) => verbs.split(' ').map((verb) => `${resource}.${verb}`)),
);

/** Audit entries of API keys name the user of the key. Keys with all scopes get `identities.assert`: no other caller could grant it. */
export class AssertedIdentities1795674100000 implements MigrationInterface {
  readonly name = 'AssertedIdentities1795674100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "audit_log_entries" ADD "user" jsonb');
    await runner.query(
      `UPDATE "api_keys" SET "scopes" = "scopes" || 'identities.assert'::text
       WHERE "scopes" @> $1::text[] AND NOT 'identities.assert' = ANY("scopes")`,
      [EARLIER],
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`UPDATE "api_keys" SET "scopes" = array_remove("scopes", 'identities.assert')`);
    await runner.query('ALTER TABLE "audit_log_entries" DROP COLUMN "user"');
  }
}
