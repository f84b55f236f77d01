import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateAuditLogEntries1795219200004 implements MigrationInterface {
  readonly name = 'CreateAuditLogEntries1795219200004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "audit_log_entries" (
        "id" uuid NOT NULL DEFAULT gen_random_uuid(),
        "organisation_id" uuid NOT NULL,
        "workspace_id" uuid,
        "actor_type" varchar(32) NOT NULL,
        "actor_id" varchar(255) NOT NULL,
        "action" varchar(64) NOT NULL,
        "resource_type" varchar(64) NOT NULL,
        "resource_id" uuid NOT NULL,
        "changed_fields" text array NOT NULL DEFAULT '{}',
        "trace_id" varchar(128),
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_audit_log_entries" PRIMARY KEY ("id")
      )`);
    await runner.query(
      `CREATE INDEX "ix_audit_log_entries_tenant" ON "audit_log_entries" ("organisation_id", "created_at")`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "audit_log_entries"`);
  }
}
