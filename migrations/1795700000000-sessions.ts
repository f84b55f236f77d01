import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Browsers that are logged in with an API key. */
export class Sessions1795700000000 implements MigrationInterface {
  readonly name = 'Sessions1795700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "sessions" (
        "id" uuid NOT NULL,
        "organisation_id" uuid NOT NULL,
        "api_key_id" uuid NOT NULL,
        "secret_id" varchar(8) NOT NULL,
        "client_address" varchar(64),
        "user_agent" varchar(512),
        "expires_at" timestamptz NOT NULL,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_sessions" PRIMARY KEY ("id"),
        CONSTRAINT "fk_sessions_secret" FOREIGN KEY ("secret_id")
          REFERENCES "api_key_secrets" ("public_id") ON DELETE CASCADE
      )`);
    for (const column of ['api_key_id', 'secret_id', 'expires_at']) {
      const name = column.replace(/_id$/, '');
      await runner.query(`CREATE INDEX "ix_sessions_${name}" ON "sessions" ("${column}")`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "sessions"');
  }
}
