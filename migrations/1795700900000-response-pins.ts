import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The virtual key whose account keeps a response. */
export class ResponsePins1795700900000 implements MigrationInterface {
  readonly name = 'ResponsePins1795700900000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE "response_pins" (
        "organisation_id" uuid NOT NULL,
        "response_id" varchar(255) NOT NULL,
        "virtual_key_id" uuid NOT NULL,
        "created_at" timestamptz NOT NULL,
        CONSTRAINT "pk_response_pins" PRIMARY KEY ("organisation_id", "response_id")
      )`);
    await runner.query('CREATE INDEX "ix_response_pins_created_at" ON "response_pins" ("created_at")');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE "response_pins"');
  }
}
