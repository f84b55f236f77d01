import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { onServer } from '../../../test/support/services.js';
import { TestClock } from '../../../test/support/test-clock.js';
import type { TollgateDataSource } from '../../database/tollgate-data-source.js';
import { openDataSource } from '../../usage/__fixtures__/postgres-harness.js';
import { McpCallRetention } from './mcp-call.retention.js';

const DAY = 86_400_000;

const clock = new TestClock();
let dataSource: TollgateDataSource;
let warnings: unknown[];
let retention: McpCallRetention;

beforeAll(async () => {
  dataSource = await openDataSource();
});
beforeEach(async () => {
  await dataSource.query('DELETE FROM mcp_calls');
  warnings = [];
  retention = retentionOn(dataSource);
});
afterAll(() => dataSource.destroy());

function retentionOn(source: ConstructorParameters<typeof McpCallRetention>[0]): McpCallRetention {
  return new McpCallRetention(source, clock, { warn: (line: unknown) => warnings.push(line) });
}

async function write(rows: number, daysAgo: number): Promise<void> {
  await dataSource.query(
    `INSERT INTO mcp_calls (id, organisation_id, server_id, server_slug, caller_type, caller_id, http_method, status,
       total_ms, bytes_in, bytes_out, created_at)
     SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), $3, 'api_key', 'key', 'POST', 200, 1, 1, 1, $2
     FROM generate_series(1, $1::integer)`,
    [rows, new Date(clock.now().getTime() - daysAgo * DAY), `${daysAgo} days`],
  );
}

async function left(): Promise<readonly (readonly [string, number])[]> {
  const rows: readonly { readonly slug: string; readonly rows: number }[] = await dataSource.query(
    'SELECT server_slug AS slug, count(*)::integer AS rows FROM mcp_calls GROUP BY 1',
  );
  return rows.map(({ slug, rows: count }) => [slug, count]);
}

describe('McpCallRetention', () => {
  it('deletes rows that are older than 90 days, and no others', async () => {
    await write(2, 91);
    await write(3, 89);
    await retention.sweep();
    expect([await left(), warnings]).toEqual([[['89 days', 3]], []]);
  });

  it('deletes old rows without new calls', async () => {
    await write(1, 91);
    retention.onApplicationBootstrap();
    await eventually(async () => (await left()).length === 0);
    await retention.beforeApplicationShutdown();
  });

  it('deletes in batches and continues after a failure', async () => {
    await write(2_500, 91);
    let statements = 0;
    const flaky = retentionOn({
      query: async (sql: string, parameters?: unknown[]) => {
        statements += 1;
        if (statements === 3) throw new Error('away');
        return dataSource.query(sql, parameters);
      },
    });
    await flaky.sweep();
    expect(warnings).toEqual([expect.objectContaining({ event: 'mcp_call_retention_failed' })]);
    expect(await left()).toEqual([['91 days', 500]]);
    await flaky.sweep();
    expect([await left(), statements, warnings.length]).toEqual([[], 4, 1]);
  });

  it('deletes all old rows when several replicas run at once', async () => {
    await write(4_500, 91);
    await Promise.all([retention.sweep(), retentionOn(dataSource).sweep(), retentionOn(dataSource).sweep()]);
    expect([await left(), warnings]).toEqual([[], []]);
  });
});

onServer('retention of calls beside another replica', () => {
  it('skips rows that another replica is deleting', async () => {
    await write(1, 92);
    await write(1, 91);
    const runner = dataSource.createQueryRunner();
    try {
      await runner.startTransaction();
      await runner.query(`DELETE FROM mcp_calls WHERE server_slug = '92 days'`);
      await retention.sweep();
      await runner.rollbackTransaction();
    } finally {
      await runner.release();
    }
    expect([await left(), warnings]).toEqual([[['92 days', 1]], []]);
  });
});
