import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Names of models that lead to a model of a virtual key. */
export class ModelRoutes1795690500000 implements MigrationInterface {
  readonly name = 'ModelRoutes1795690500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "model_routes" (
        "id" uuid NOT NULL DEFAULT gen_random_uuid(),
        "organisation_id" uuid NOT NULL,
        "workspace_id" uuid,
        "slug" varchar(255) NOT NULL,
        "name" varchar(255) NOT NULL,
        "description" varchar(1024),
        "targets" jsonb NOT NULL,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        "updated_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_model_routes" PRIMARY KEY ("id"),
        CONSTRAINT "fk_model_routes_organisation" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id"),
        CONSTRAINT "fk_model_routes_workspace" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id")
      )`);
    for (const column of ['slug', 'name']) {
      await runner.query(
        `CREATE UNIQUE INDEX "uq_model_routes_workspace_${column}" ` +
          `ON "model_routes" ("organisation_id", "workspace_id", "${column}") WHERE "workspace_id" IS NOT NULL`,
      );
      await runner.query(
        `CREATE UNIQUE INDEX "uq_model_routes_organisation_${column}" ` +
          `ON "model_routes" ("organisation_id", "${column}") WHERE "workspace_id" IS NULL`,
      );
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "model_routes"');
  }
}
