import type { MigrationInterface, QueryRunner } from 'typeorm';

export class CreateServerSecrets1795219200001 implements MigrationInterface {
  readonly name = 'CreateServerSecrets1795219200001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "server_secrets" (
        "name" varchar(64) NOT NULL,
        "sealed_value" text NOT NULL,
        "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_server_secrets" PRIMARY KEY ("name")
      )`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE "server_secrets"`);
  }
}
