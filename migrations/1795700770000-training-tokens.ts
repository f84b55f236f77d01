import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Sums of the tokens that fine-tuning jobs have read. */
export class TrainingTokens1795700770000 implements MigrationInterface {
  readonly name = 'TrainingTokens1795700770000';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of ['usage_rollup_changes', 'usage_rollups'])
      await runner.query(`ALTER TABLE "${table}" ADD COLUMN "q_training" bigint`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of ['usage_rollup_changes', 'usage_rollups'])
      await runner.query(`ALTER TABLE "${table}" DROP COLUMN "q_training"`);
  }
}
