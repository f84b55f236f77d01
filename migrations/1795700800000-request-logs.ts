import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One row for each call: who called what, how it ended, and how long it took. No bodies. */
export class RequestLogs1795700800000 implements MigrationInterface {
  readonly name = 'RequestLogs1795700800000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "request_logs" (
        "id" uuid NOT NULL,
        "created_at" timestamptz NOT NULL,
        "organisation_id" uuid NOT NULL,
        "workspace_id" uuid,
        "actor_type" varchar(32) NOT NULL,
        "actor_id" varchar(255) NOT NULL,
        "user_id" varchar(255),
        "session" varchar(255),
        "method" varchar(16) NOT NULL,
        "route" varchar(255) NOT NULL,
        "virtual_key" varchar(255),
        "provider" varchar(64),
        "model" varchar(255),
        "mcp_server" varchar(255),
        "mcp_method" varchar(128),
        "status" smallint NOT NULL,
        "error_code" varchar(64),
        "tokens" bigint,
        "cost_nano" bigint,
        "duration_ms" integer NOT NULL,
        "upstream_ms" integer,
        "first_token_ms" integer,
        "upstream_attempts" integer,
        "trace_id" varchar(128) NOT NULL,
        "metadata" jsonb NOT NULL,
        CONSTRAINT "pk_request_logs" PRIMARY KEY ("id")
      )`);
    await runner.query(
      'CREATE INDEX "ix_request_logs_organisation" ON "request_logs" ("organisation_id", "created_at", "id")',
    );
    await runner.query(
      'CREATE INDEX "ix_request_logs_workspace" ON "request_logs" ("organisation_id", "workspace_id", "created_at", "id")',
    );
    await runner.query('CREATE INDEX "ix_request_logs_trace" ON "request_logs" ("organisation_id", "trace_id")');
    await runner.query('CREATE INDEX "ix_request_logs_created_at" ON "request_logs" ("created_at")');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "request_logs"');
  }
}
