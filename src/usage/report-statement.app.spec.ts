import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { emptyUsage, openDataSource } from './__fixtures__/postgres-harness.js';
import { ORGANISATION, reservationOf, settledAs } from './__fixtures__/usage.js';
import { TIME_BUCKETS } from './dto/usage-report.query.js';
import { PostgresUsageStore } from './postgres-usage.store.js';
import { REPORT_COLUMNS, type ReportKey } from './report-keys.js';
import { type ReportRange, reportStatement, spansOfReport } from './report-statement.js';
import type { Quantities } from './units.js';

const START = Date.UTC(2026, 9, 30);
const HOUR = 3_600_000;
const DAYS = 5;
const CALLS = 600;
const OTHER = '00000000-0000-4000-8000-00000000000f';
const WORKSPACES = ['00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000004', null] as const;
const KEYS = ['key-1', 'key-2', null] as const;
const NAMES = ['a', 'b', null] as const;
const MODELS = ['m-1', 'm-2', 'm-3', null] as const;

type Names = Readonly<Record<string, string>>;

let dataSource: TollgateDataSource;

const pick = <T>(values: readonly [T, ...T[]]): T => values[randomInt(values.length)] ?? values[0];
const figure = (): bigint => BigInt(randomInt(10_000));

/** One call at a random time of the five days; every tenth is another organisation's. */
function writeCall(store: PostgresUsageStore): void {
  const { id, dimensions } = reservationOf([]);
  store.record({
    id,
    at: new Date(START + randomInt(DAYS * 24 * HOUR)),
    dimensions: {
      ...dimensions,
      organisationId: randomInt(10) === 0 ? OTHER : ORGANISATION,
      workspaceId: pick(WORKSPACES),
      apiKeyId: pick(KEYS),
      virtualKey: pick(NAMES),
      provider: pick(NAMES),
      model: pick(MODELS),
      endpoint: pick(['chat', 'rerank']),
      mcpServer: pick(NAMES),
      mcpTool: pick(NAMES),
      metadata: pick<Names>([{}, { team: 'one' }, { team: 'two', user: 'x' }]),
    },
    ...settledAs(
      {
        costNano: figure(),
        quantities: pick<Quantities>([{}, { input: figure() }, { input: 0n, output: figure(), web_search: 1n }]),
      },
      { source: pick(['provider', 'presumed']), outcome: pick(['answered', 'failed']) },
    ),
  });
}

beforeAll(async () => {
  dataSource = await openDataSource();
  await emptyUsage(dataSource);
  const store = new PostgresUsageStore(dataSource, new TestClock(), NO_OBSERVER, { maxBatch: 50 });
  for (let count = 0; count < CALLS; count += 1) writeCall(store);
  await store.flush();
  // Some are in the sums, and the last ones still in the notes.
  await dataSource.query('SELECT usage_fold_rollups(400)');
  await store.close();
});
afterAll(async () => {
  await emptyUsage(dataSource);
  await dataSource.destroy();
});

const PLAIN: ReportRange = {
  organisationId: ORGANISATION,
  workspaceId: undefined,
  from: new Date(START),
  to: new Date(START + DAYS * 24 * HOUR),
  isOpen: false,
  bucket: 'day',
  groupBy: [],
  filters: {},
  models: undefined,
  metadata: undefined,
};
const PAGE = { skip: 0, take: 10_000, sort: 'start' } as const;

async function read(range: ReportRange, spans = spansOfReport(range)): Promise<readonly object[]> {
  const { sql, parameters } = reportStatement(range, PAGE, spans);
  return dataSource.query(sql, [...parameters]);
}

/** Both ways must say the same; the rows. */
async function expectSame(range: ReportRange): Promise<readonly object[]> {
  const rows = await read(range);
  expect(rows).toEqual(await read(range, [{ source: 'ledger', from: range.from, to: range.to }]));
  return rows;
}

/** A random time, often a whole hour or day. */
function someTime(): number {
  const unit = pick([24 * HOUR, HOUR, 1]);
  return START + Math.floor(randomInt(DAYS * 24 * HOUR) / unit) * unit;
}

describe('a report by sums', () => {
  const keys = Object.keys(REPORT_COLUMNS).filter((key): key is ReportKey => key in REPORT_COLUMNS);

  it.each(keys)('equals one by the ledger, grouped by %s', async (key) => {
    for (const bucket of TIME_BUCKETS) {
      const rows = await expectSame({ ...PLAIN, bucket, groupBy: [key] });
      expect(rows.length).toBeGreaterThan(1);
    }
  });

  it.each<readonly [string, Partial<ReportRange>]>([
    ['a workspace', { workspaceId: WORKSPACES[0] }],
    ['a key', { filters: { api_key_id: 'key-1' } }],
    ['a virtual key', { filters: { virtual_key: 'a' } }],
    ['a provider', { filters: { provider: 'b' } }],
    ['an endpoint', { filters: { endpoint: 'chat' } }],
    ['an MCP server and tool', { filters: { mcp_server: 'a', mcp_tool: 'b' } }],
    ['models', { models: [{ model: 'm-1' }, { provider: 'a', model: 'm-2' }] }],
  ])('equals one by the ledger, filtered by %s', async (_what, filter) => {
    const all = await expectSame({ ...PLAIN, bucket: 'none' });
    const some = await expectSame({ ...PLAIN, ...filter, bucket: 'none' });
    expect(some).toHaveLength(1);
    expect(some).not.toEqual(all);
    await expectSame({ ...PLAIN, ...filter, bucket: 'hour', groupBy: ['model'] });
  });

  it('equals one by the ledger for any time, group and filter', async () => {
    for (let count = 0; count < 60; count += 1) {
      const [one, other] = [someTime(), someTime()];
      await expectSame({
        ...PLAIN,
        from: new Date(Math.min(one, other)),
        to: new Date(Math.max(one, other) + 1),
        bucket: pick(TIME_BUCKETS),
        groupBy: keys.filter(() => randomInt(4) === 0),
        workspaceId: pick([undefined, ...WORKSPACES.filter((id) => id !== null)]),
        filters: pick<Names>([{}, { provider: 'a' }, { api_key_id: 'key-2', endpoint: 'rerank' }]),
      });
    }
  });

  it('reads metadata from the ledger', async () => {
    const { from, to } = PLAIN;
    expect(spansOfReport({ ...PLAIN, groupBy: ['metadata.team'] })).toEqual([{ source: 'ledger', from, to }]);
    expect(spansOfReport({ ...PLAIN, metadata: { team: 'one' } })).toEqual([{ source: 'ledger', from, to }]);
    expect(await read({ ...PLAIN, bucket: 'none', groupBy: ['metadata.team'] })).toMatchObject([
      { g0: 'one' },
      { g0: 'two' },
      { g0: null },
    ]);
  });

  it('reads the hour of now from sums where no end is named', () => {
    const to = new Date(START + 2 * HOUR + 5);
    expect(spansOfReport({ ...PLAIN, to, isOpen: true, bucket: 'hour' })).toEqual([
      { source: 'hours', from: PLAIN.from, to: new Date(START + 3 * HOUR) },
      { source: 'notes', from: PLAIN.from, to: new Date(START + 3 * HOUR) },
    ]);
  });

  it('keeps months that were dropped from the ledger', async () => {
    const before = await read({ ...PLAIN, bucket: 'month', groupBy: ['model'] });
    await dataSource.query('BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM usage_events; COMMIT');
    expect(await read({ ...PLAIN, bucket: 'month', groupBy: ['model'] })).toEqual(before);
    expect(before.length).toBeGreaterThan(2);
  });
});
