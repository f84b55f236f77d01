import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Ids are unique at the server that gave them, and one provider (`openai-compatible`) can mean several. */
export class TellServersOfObjectsApart1795219200040 implements MigrationInterface {
  readonly name = 'TellServersOfObjectsApart1795219200040';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "provider_objects" ADD "server" varchar(43)`);
    await runner.query(`DROP INDEX "uq_provider_objects_upstream"`);
    await runner.query(`
      CREATE UNIQUE INDEX "uq_provider_objects_upstream"
      ON "provider_objects" ("organisation_id", "provider", "server", "kind", "upstream_id")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    // Who was first stays the owner.
    await runner.query(`
      DELETE FROM "provider_objects" AS later USING "provider_objects" AS earlier
      WHERE (later."organisation_id", later."provider", later."kind", later."upstream_id")
          = (earlier."organisation_id", earlier."provider", earlier."kind", earlier."upstream_id")
        AND (later."created_at", later."id") > (earlier."created_at", earlier."id")`);
    await runner.query(`DROP INDEX "uq_provider_objects_upstream"`);
    await runner.query(`
      CREATE UNIQUE INDEX "uq_provider_objects_upstream"
      ON "provider_objects" ("organisation_id", "provider", "kind", "upstream_id")`);
    await runner.query(`ALTER TABLE "provider_objects" DROP COLUMN "server"`);
  }
}
