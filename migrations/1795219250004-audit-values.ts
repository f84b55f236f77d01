import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Old and new values, names, and the client's address. */
export class AuditValues1795219250004 implements MigrationInterface {
  readonly name = 'AuditValues1795219250004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "audit_log_entries" ADD "actor_name" varchar(255), ADD "client_address" varchar(64),
        ADD "resource_name" varchar(2048), ADD "changes" jsonb NOT NULL DEFAULT '{}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "audit_log_entries" DROP COLUMN "actor_name", DROP COLUMN "client_address",
        DROP COLUMN "resource_name", DROP COLUMN "changes"`);
  }
}
