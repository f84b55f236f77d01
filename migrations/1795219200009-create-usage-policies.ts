import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateUsagePolicies1795219200009 implements MigrationInterface {
  readonly name = 'CreateUsagePolicies1795219200009';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "usage_policies" (
        "id" uuid NOT NULL DEFAULT gen_random_uuid(),
        "organisation_id" uuid NOT NULL,
        "workspace_id" uuid,
        "name" varchar(255),
        "description" varchar(1024),
        "conditions" jsonb NOT NULL,
        "group_by" text array NOT NULL,
        "type" varchar(16) NOT NULL,
        "credit_limit" numeric NOT NULL,
        "alert_threshold" numeric,
        "periodic_reset" varchar(16),
        "enforcement" varchar(16) NOT NULL DEFAULT 'strict',
        "status" varchar(16) NOT NULL DEFAULT 'active',
        "created_at" timestamptz NOT NULL DEFAULT now(),
        "updated_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_usage_policies" PRIMARY KEY ("id"),
        CONSTRAINT "fk_usage_policies_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
        CONSTRAINT "fk_usage_policies_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id")
      )`);
    await runner.query(`CREATE INDEX "ix_usage_policies_tenant" ON "usage_policies" ("organisation_id", "status")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "usage_policies"`);
  }
}
