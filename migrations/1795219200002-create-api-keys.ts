import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateApiKeys1795219200002 implements MigrationInterface {
  readonly name = 'CreateApiKeys1795219200002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "api_keys" (
        "id" uuid NOT NULL DEFAULT gen_random_uuid(),
        "organisation_id" uuid NOT NULL,
        "workspace_id" uuid,
        "name" varchar(255) NOT NULL,
        "type" varchar(16) NOT NULL,
        "scopes" text array NOT NULL,
        "user" jsonb,
        "metadata" jsonb NOT NULL DEFAULT '{}',
        "rate_limits" jsonb NOT NULL DEFAULT '[]',
        "expires_at" timestamptz,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        "updated_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_api_keys" PRIMARY KEY ("id"),
        CONSTRAINT "fk_api_keys_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
        CONSTRAINT "fk_api_keys_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id")
      )`);
    await runner.query(
      `CREATE INDEX "ix_api_keys_tenant" ON "api_keys" ("organisation_id", "workspace_id", "created_at")`,
    );
    await runner.query(`
      CREATE TABLE "api_key_secrets" (
        "public_id" varchar(8) NOT NULL,
        "api_key_id" uuid NOT NULL,
        "hash" bytea NOT NULL,
        "valid_until" timestamptz,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_api_key_secrets" PRIMARY KEY ("public_id"),
        CONSTRAINT "fk_api_key_secrets_api_key" FOREIGN KEY ("api_key_id") REFERENCES "api_keys" ("id") ON DELETE CASCADE
      )`);
    await runner.query(`CREATE INDEX "ix_api_key_secrets_api_key" ON "api_key_secrets" ("api_key_id")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "api_key_secrets"`);
    await runner.query(`DROP TABLE "api_keys"`);
  }
}
