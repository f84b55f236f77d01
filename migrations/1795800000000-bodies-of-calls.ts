import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Workspaces choose whether bodies of calls are kept. The bodies themselves are elsewhere. */
export class BodiesOfCalls1795800000000 implements MigrationInterface {
  readonly name = 'BodiesOfCalls1795800000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "workspaces" ADD COLUMN "log_bodies" jsonb');
    await runner.query('ALTER TABLE "request_logs" ADD COLUMN "bodies_until" timestamptz');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "request_logs" DROP COLUMN "bodies_until"');
    await runner.query('ALTER TABLE "workspaces" DROP COLUMN "log_bodies"');
  }
}
