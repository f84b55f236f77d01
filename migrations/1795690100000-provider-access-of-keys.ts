import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which models and virtual keys an API key may use, and which virtual key it uses when a call names none. */
export class ProviderAccessOfKeys1795690100000 implements MigrationInterface {
  readonly name = 'ProviderAccessOfKeys1795690100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "api_keys" ADD "allowed_models" text array, ADD "allowed_virtual_keys" uuid array,
        ADD "default_virtual_key_id" uuid,
        ADD CONSTRAINT "fk_api_keys_default_virtual_key" FOREIGN KEY ("default_virtual_key_id")
          REFERENCES "virtual_keys" ("id")`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE "api_keys" DROP COLUMN "allowed_models", DROP COLUMN "allowed_virtual_keys",
        DROP COLUMN "default_virtual_key_id"`);
  }
}
