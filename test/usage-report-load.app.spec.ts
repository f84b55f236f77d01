import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { databaseServer, onServer } from './support/services.js';
import { makeOwnDatabase, type OwnDatabase } from './support/own-database.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { COST, scored, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

jest.setTimeout(60_000);

/** More than half of a report's time limit. */
const SECONDS_A_ROW = 2.5;

/** Found before PostgreSQL's own: a row of a report by hour takes a while, a row by day the whole time limit. */
const SLOW_PERIODS = `
  CREATE FUNCTION public.date_trunc(unit text, at timestamptz, zone text) RETURNS timestamptz LANGUAGE plpgsql AS $$
  BEGIN
    -- Sums of the ledger are made by hour as well, and must not be slow.
    PERFORM pg_sleep(CASE WHEN current_query() NOT LIKE '%GROUP BY%' THEN 0 ELSE CASE unit WHEN 'day' THEN 600 WHEN 'hour' THEN ${SECONDS_A_ROW} ELSE 0 END END);
    RETURN pg_catalog.date_trunc(unit, at, zone);
  END $$`;

onServer('reports that take too long (needs DATABASE_URL)', () => {
  let database: OwnDatabase;
  let gateway: UsageGateway;
  let other: Tenant;

  beforeAll(async () => {
    database = await makeOwnDatabase(databaseServer ?? '');
    await prepare(database.url);
    gateway = await startUsageGateway({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: '4' });
    gateway.provider.replyWith(scored());
    await gateway.limit({ credit_limit: 1_000_000 * COST });
    expect((await gateway.call()).status).toBe(200);
    await gateway.books.ledger(1);
    other = await addTenant(gateway.app, 'other');
  });

  afterAll(async () => {
    await gateway.close();
    await database.drop();
  });

  /** From the ledger: sums have no metadata. */
  const read = (bucket: string, page = ''): Promise<Answer> =>
    gateway.admin.get(`/v1/usage?group_by=metadata.team&bucket=${bucket}${page}`);

  it('ends slow reports in time while reading a page or counting the rows', async () => {
    const startedAt = performance.now();
    const answer = await read('hour', '&current_page=7');
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'report_too_large', param: 'from' });
    expect(performance.now() - startedAt).toBeLessThan(2 * SECONDS_A_ROW * 1_000);
    expect(jsonOf(await read('hour'))).toMatchObject({ data: [{ calls: 1 }], total: 1 });
  });

  it('ends concurrent reports without delaying calls or other organisations', async () => {
    const reports = Promise.all(Array.from({ length: 8 }, () => read('day')));
    let isOver = false;
    const over = reports.finally(() => (isOver = true));
    let calls = 0;
    while (!isOver) {
      expect((await gateway.call()).status).toBe(200);
      expect((await other.client.get('/v1/usage?bucket=none')).status).toBe(200);
      calls += 1;
    }
    expect(calls).toBeGreaterThan(10);

    const answers = await over;
    const refusals = answers.map((answer) => JSON.stringify(refusalOf(answer)));
    const slow = { status: 400, code: 'report_too_large', param: 'from', source: 'gateway' };
    const busy = { status: 503, code: 'report_busy', param: null, source: 'gateway' };
    expect(new Set(refusals)).toEqual(new Set([slow, busy].map((refusal) => JSON.stringify(refusal))));
    expect(refusals.filter((refusal) => refusal.includes(busy.code))).toHaveLength(6);
    const retries = answers.filter(({ status }) => status === 503).map(({ headers }) => headers['retry-after']);
    expect(new Set(retries)).toEqual(new Set(['2']));
    expect(answers.every(({ text }) => text.includes('store_unavailable'))).toBe(false);
  });

  it('restores the connection settings after a report', async () => {
    expect((await read('none')).status).toBe(200);
    const settings = await Promise.all(
      Array.from({ length: 4 }, () => gateway.app.dataSource.query('SHOW statement_timeout')),
    );
    expect(settings.flat()).toEqual(Array.from({ length: 4 }, () => ({ statement_timeout: '4500ms' })));
    const [row] = await gateway.app.dataSource.query(
      `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`,
    );
    expect(row).toEqual({ count: 0 });
  });
});

async function prepare(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(SLOW_PERIODS);
    await client.query(`ALTER DATABASE "${new URL(url).pathname.slice(1)}" SET search_path = public, pg_catalog`);
  } finally {
    await client.end();
  }
}
