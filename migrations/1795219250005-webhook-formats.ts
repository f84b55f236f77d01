import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Endpoints can have the form that chat programs read. */
export class WebhookFormats1795219250005 implements MigrationInterface {
  readonly name = 'WebhookFormats1795219250005';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "webhook_endpoints" ADD "format" varchar(16) NOT NULL DEFAULT 'standard'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE "webhook_endpoints" DROP COLUMN "format"');
  }
}
