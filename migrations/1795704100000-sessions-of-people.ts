import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Browsers of people who log in at the administrators' identity provider, or with its token. */
export class SessionsOfPeople1795704100000 implements MigrationInterface {
  readonly name = 'SessionsOfPeople1795704100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "sessions"
        ALTER COLUMN "api_key_id" DROP NOT NULL,
        ALTER COLUMN "secret_id" DROP NOT NULL,
        ADD COLUMN "workspace_id" uuid,
        ADD COLUMN "issuer" varchar(2048),
        ADD COLUMN "subject" varchar(255),
        ADD COLUMN "person" jsonb,
        ADD CONSTRAINT "fk_sessions_workspace" FOREIGN KEY ("workspace_id")
          REFERENCES "workspaces" ("id") ON DELETE CASCADE,
        ADD CONSTRAINT "ck_sessions_owner" CHECK (("secret_id" IS NULL) <> ("subject" IS NULL))`);
    await runner.query('CREATE INDEX "ix_sessions_workspace" ON "sessions" ("workspace_id")');
    await runner.query('CREATE INDEX "ix_sessions_subject" ON "sessions" ("subject", "issuer")');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DELETE FROM "sessions" WHERE "secret_id" IS NULL');
    await runner.query(`
      ALTER TABLE "sessions"
        DROP CONSTRAINT "ck_sessions_owner",
        DROP CONSTRAINT "fk_sessions_workspace",
        DROP COLUMN "workspace_id",
        DROP COLUMN "issuer",
        DROP COLUMN "subject",
        DROP COLUMN "person",
        ALTER COLUMN "api_key_id" SET NOT NULL,
        ALTER COLUMN "secret_id" SET NOT NULL`);
  }
}
