import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Answers of creates, for a day, so that a repeated request returns the same answer. */
export class IdempotencyKeys1795219250002 implements MigrationInterface {
  readonly name = 'IdempotencyKeys1795219250002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "idempotency_keys" (
        "id" uuid NOT NULL DEFAULT gen_random_uuid(),
        "organisation_id" uuid NOT NULL,
        "key_hash" bytea NOT NULL,
        "request_hash" bytea NOT NULL,
        "resource_id" uuid NOT NULL,
        "sealed_answer" text,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_idempotency_keys" PRIMARY KEY ("id"),
        CONSTRAINT "fk_idempotency_keys_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id")
      )`);
    await runner.query(`
      CREATE UNIQUE INDEX "uq_idempotency_keys_key" ON "idempotency_keys" ("organisation_id", "key_hash")`);
    await runner.query('CREATE INDEX "ix_idempotency_keys_created_at" ON "idempotency_keys" ("created_at")');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "idempotency_keys"');
  }
}
