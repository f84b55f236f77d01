import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Where secrets may be sent. Keys that could map secrets, by the scope to read their references, get the scope that mapping takes. */
export class SecretDestinations1795674300000 implements MigrationInterface {
  readonly name = 'SecretDestinations1795674300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE "secret_references" ADD "allowed_hosts" text array, ADD "allowed_providers" text array',
    );
    await runner.query(
      `UPDATE "api_keys" SET "scopes" = "scopes" || 'secret_references.use'::text
       WHERE 'secret_references.read' = ANY("scopes") AND NOT 'secret_references.use' = ANY("scopes")`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`UPDATE "api_keys" SET "scopes" = array_remove("scopes", 'secret_references.use')`);
    await runner.query('ALTER TABLE "secret_references" DROP COLUMN "allowed_hosts", DROP COLUMN "allowed_providers"');
  }
}
