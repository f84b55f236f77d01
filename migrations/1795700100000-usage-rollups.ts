import { readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const UNITS = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'input_audio',
  'output_audio',
  'input_image',
  'output_image',
  'search_unit',
  'request',
  'web_search',
  'audio_second',
  'image',
];

/** Of a group of calls. A unit is null where no call has a figure of it. */
const SUMS = `
  "calls" bigint NOT NULL, "presumed_calls" bigint NOT NULL, "failed_calls" bigint NOT NULL,
  "cost_nano" bigint NOT NULL, "tokens" bigint NOT NULL, ${UNITS.map((unit) => `"q_${unit}" bigint`).join(', ')}`;

/** In the order of `SUMS`. */
const SUMMED = ['cost_nano', 'tokens', ...UNITS.map((unit) => `(quantities -> '${unit}')::bigint`)];

const GROUP = `
  "organisation_id" uuid NOT NULL, "workspace_id" uuid, "api_key_id" varchar(255) NOT NULL, "virtual_key" varchar(255),
  "provider" varchar(64), "model" varchar(255), "endpoint" varchar(64) NOT NULL, "mcp_server" varchar(255),
  "mcp_tool" varchar(255)`;

const GROUP_COLUMNS =
  'organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint, mcp_server, mcp_tool';

/** Which rows of the ledger the function gets, under the name that it expects; and whether they come or go. */
const TRIGGERS = [
  ['inserted', 'INSERT', 'NEW', 1],
  ['updated_to', 'UPDATE', 'NEW', 1],
  ['updated_from', 'UPDATE', 'OLD', -1],
  ['deleted', 'DELETE', 'OLD', -1],
] as const;

/** Sums of the ledger by hour and by day, so that a report need not read every call. */
export class UsageRollups1795700100000 implements MigrationInterface {
  readonly name = 'UsageRollups1795700100000';

  async up(runner: QueryRunner): Promise<void> {
    // What has not been added to the sums yet. It is only ever read as a whole, and then emptied.
    await runner.query(`
      CREATE TABLE "usage_rollup_changes" ("hour" timestamptz NOT NULL, ${GROUP}, ${SUMS})
      WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`);
    await runner.query(`
      CREATE TABLE "usage_rollup_groups" (
        "id" uuid NOT NULL, ${GROUP}, "created_at" timestamptz NOT NULL DEFAULT now(),
        CONSTRAINT "pk_usage_rollup_groups" PRIMARY KEY ("id")
      )`);
    await runner.query(
      'CREATE INDEX "ix_usage_rollup_groups_organisation" ON "usage_rollup_groups" ("organisation_id")',
    );
    // Rows of the hour and of the day are changed many times: with room in their page, no index is touched.
    await runner.query(`
      CREATE TABLE "usage_rollups" (
        "organisation_id" uuid NOT NULL, "hours" smallint NOT NULL, "start" timestamptz NOT NULL, "group_id" uuid NOT NULL,
        ${SUMS},
        CONSTRAINT "pk_usage_rollups" PRIMARY KEY ("organisation_id", "hours", "start", "group_id")
      ) WITH (fillfactor = 70)`);
    for (const name of ['usage_bounded', 'usage_count_rollups']) {
      await runner.query(readFileSync(new URL(`./functions/${name}.sql`, import.meta.url), 'utf8'));
    }
    // From here on other gateways wait before they write to the ledger: no row is missed, and none is counted twice.
    for (const [name, event, table, sign] of TRIGGERS) {
      await runner.query(`
        CREATE TRIGGER "usage_rollups_${name}" AFTER ${event} ON "usage_events"
        REFERENCING ${table} TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION usage_count_rollups('${sign}')`);
    }
    await runner.query(`
      INSERT INTO "usage_rollup_changes"
      SELECT date_trunc('hour', at, 'UTC'), ${GROUP_COLUMNS}, count(*), count(*) FILTER (WHERE source = 'presumed'),
        count(*) FILTER (WHERE outcome = 'failed'), ${SUMMED.map((figure) => `usage_bounded(sum(${figure}))`).join(', ')}
      FROM "usage_events" GROUP BY 1, ${GROUP_COLUMNS}`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const [name] of TRIGGERS) await runner.query(`DROP TRIGGER "usage_rollups_${name}" ON "usage_events"`);
    await runner.query('DROP TABLE "usage_rollups", "usage_rollup_groups", "usage_rollup_changes"');
  }
}
