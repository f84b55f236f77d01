import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What administrators want to know about a key: how it begins, who made it, when it was last used. */
export class ApiKeyFacts1795219250003 implements MigrationInterface {
  readonly name = 'ApiKeyFacts1795219250003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "api_keys" ADD "prefix" varchar(16) NOT NULL DEFAULT '', ADD "description" varchar(1024),
        ADD "created_by" varchar(255), ADD "last_used_at" timestamptz`);
    await runner.query(`
      UPDATE "api_keys" AS k SET "prefix" = COALESCE((
        SELECT 'tg_' || s."public_id" FROM "api_key_secrets" AS s
        WHERE s."api_key_id" = k."id" ORDER BY s."created_at" DESC LIMIT 1), '')`);
    await runner.query('ALTER TABLE "api_keys" ALTER "prefix" DROP DEFAULT');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "api_keys" DROP COLUMN "prefix", DROP COLUMN "description", DROP COLUMN "created_by",
        DROP COLUMN "last_used_at"`);
  }
}
