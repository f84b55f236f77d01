import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Work that a provider does, and bills, after it has answered: batches. */
export class ProviderJobs1795700760000 implements MigrationInterface {
  readonly name = 'ProviderJobs1795700760000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "provider_jobs" (
        "id" uuid NOT NULL,
        "organisation_id" uuid NOT NULL,
        "kind" varchar(32) NOT NULL,
        "virtual_key_id" uuid NOT NULL,
        "provider" varchar(64) NOT NULL,
        "server" varchar(43) NOT NULL,
        "account" jsonb NOT NULL,
        "upstream_id" varchar(1024),
        "traits" jsonb NOT NULL,
        "dimensions" jsonb NOT NULL,
        "parts" jsonb NOT NULL,
        "charges" jsonb,
        "at" timestamptz NOT NULL,
        "ends_at" timestamptz NOT NULL,
        "next_check_at" timestamptz,
        "claim_id" uuid,
        "settled_at" timestamptz,
        CONSTRAINT "pk_provider_jobs" PRIMARY KEY ("id")
      )`);
    await runner.query(
      'CREATE UNIQUE INDEX "uq_provider_jobs_upstream" ' +
        'ON "provider_jobs" ("organisation_id", "provider", "server", "kind", "upstream_id")',
    );
    await runner.query('CREATE INDEX "ix_provider_jobs_next_check_at" ON "provider_jobs" ("next_check_at")');
    await runner.query('CREATE INDEX "ix_provider_jobs_settled_at" ON "provider_jobs" ("settled_at")');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "provider_jobs"');
  }
}
