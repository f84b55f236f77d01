import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomInt, randomUUID } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { eventually } from '../../test/support/eventually.js';
import type { TollgateDataSource } from '../database/tollgate-data-source.js';
import { BreakableDatabase } from './__fixtures__/broken-data-source.js';
import { NO_OBSERVER } from './__fixtures__/no-observer.js';
import { emptyUsage, openDataSource } from './__fixtures__/postgres-harness.js';
import { cost, reservationOf, settledAs } from './__fixtures__/usage.js';
import { NO_RATE } from './prices/price.types.js';
import { MAX_FIGURE, tokensOf, toQuantitiesJson } from './units.js';
import { UsageEvent } from './usage-event.entity.js';
import { LedgerWriter, type UsageNotesOptions } from './ledger-writer.js';
import type { UnlimitedUsage, UsageDimensions } from './usage-store.types.js';

const OPTIONS: UsageNotesOptions = {
  maxWaiting: 1_000,
  maxBatch: 500,
  gatherMs: 20,
  retryPauseMs: 10,
  drainMs: 5_000,
};

let dataSource: TollgateDataSource;
let sizes: number[];
let failed: number;
let dropped: number;

beforeAll(async () => {
  dataSource = await openDataSource();
});
beforeEach(async () => {
  await emptyUsage(dataSource);
  [sizes, failed, dropped] = [[], 0, 0];
});
afterAll(() => dataSource.destroy());

function open(options: Partial<UsageNotesOptions> = {}, on: DataSource = dataSource): LedgerWriter {
  const observer = {
    ...NO_OBSERVER,
    batchDone: (size: number) => void sizes.push(size),
    batchFailed: () => void (failed += 1),
    dropped: (count: number) => void (dropped += count),
  };
  return new LedgerWriter(on, observer, { ...OPTIONS, ...options });
}

function note(change: Partial<UnlimitedUsage> = {}): UnlimitedUsage {
  const { id, at, dimensions } = reservationOf([]);
  return { id, at, dimensions, ...settledAs(cost(1n)), ...change };
}

async function rows(): Promise<readonly UsageEvent[]> {
  return dataSource.getRepository(UsageEvent).find({ order: { id: 'ASC' } });
}

/** The ledger's columns of a usage, as far as the usage names them. */
function inLedger({
  id,
  at,
  dimensions,
  figures,
  source,
  outcome,
  rate,
  firstTokenMs,
}: UnlimitedUsage): Partial<UsageEvent> {
  const { costNano, quantities } = figures;
  return {
    id,
    at,
    source,
    outcome,
    mode: rate.mode,
    tier: rate.tier,
    priceIds: [...rate.priceIds],
    firstTokenMs,
    ...dimensions,
    apiKeyId: dimensions.apiKeyId ?? '',
    costNano: String(costNano),
    tokens: String(tokensOf(quantities)),
    quantities: toQuantitiesJson(quantities),
    bucketIds: [],
    amounts: [],
  };
}

async function written(...usages: readonly UnlimitedUsage[]): Promise<readonly unknown[]> {
  const notes = open();
  for (const usage of usages) notes.add(usage);
  await notes.close();
  const found = await rows();
  return usages.flatMap(({ id }) => found.filter((row) => row.id === id));
}

describe('usage that nothing limits', () => {
  it('gathers unlimited usage for a moment, and writes it in one statement', async () => {
    const notes = open({ gatherMs: 100 });
    for (let count = 0; count < 5; count += 1) notes.add(note());
    await eventually(async () => sizes.length > 0);
    expect([sizes, (await rows()).length]).toEqual([[5], 5]);
  });

  it('writes unlimited usage when it is requested', async () => {
    const notes = open({ gatherMs: 3_600_000 });
    notes.add(note());
    await notes.flush();
    expect(await rows()).toHaveLength(1);
  });

  it('writes unlimited usage at once when it fills a batch', async () => {
    const notes = open({ gatherMs: 3_600_000, maxBatch: 3 });
    for (let count = 0; count < 3; count += 1) notes.add(note());
    await eventually(async () => sizes.length > 0);
    expect(sizes).toEqual([3]);
  });

  it.each<readonly [string, Partial<UnlimitedUsage>]>([
    ['the figures', { figures: { costNano: MAX_FIGURE, quantities: { input: 7n, search_unit: 2n } } }],
    ['the source', { source: 'presumed' }],
    ['the outcome', { outcome: 'cancelled' }],
    ['the time to its first token', { firstTokenMs: 12 }],
    ['the mode', { rate: { ...NO_RATE, mode: 'batch' } }],
    ['the price', { rate: { ...NO_RATE, priceIds: [randomUUID()] } }],
    ['the time', { at: new Date('2031-02-03T04:05:06.789Z') }],
  ])('keeps every column, also beside a row that differs in %s', async (_what, change) => {
    const usages = [note(), note(change), note()];
    expect(await written(...usages)).toMatchObject(usages.map(inLedger));
  });

  it.each<readonly [string, Partial<UsageDimensions>]>([
    ['the organisation', { organisationId: randomUUID() }],
    ['the workspace', { workspaceId: null }],
    ['the key', { apiKeyId: null }],
    ['the virtual key', { virtualKey: 'other' }],
    ['the provider', { provider: 'other' }],
    ['the model', { model: null }],
    ['the endpoint', { endpoint: 'other' }],
    ['the server', { mcpServer: 'other' }],
    ['the tool', { mcpTool: 'other' }],
    ['the metadata', { metadata: { user: 'alice', team: 'one' } }],
    ['one of the metadata', { metadata: { user: 'bob' } }],
    ['a name of the metadata', { metadata: { owner: 'alice' } }],
    ['the trace', { traceId: 'another' }],
    ['the attempt', { attempt: 2 }],
  ])('keeps every column, also beside a row of another caller: %s', async (_what, change) => {
    const dimensions = { ...note().dimensions, metadata: { user: 'alice' } };
    const usages = [note({ dimensions }), note({ dimensions: { ...dimensions, ...change } }), note({ dimensions })];
    expect(await written(...usages)).toMatchObject(usages.map(inLedger));
  });

  it('stores the time of a usage as PostgreSQL reads the same time from text', async () => {
    const [from, to] = [Date.UTC(2000), Date.UTC(2100)] as const;
    const usages = Array.from({ length: 1_000 }, () => note({ at: new Date(randomInt(from, to)) }));
    expect(await written(...usages)).toHaveLength(usages.length);
    const found = await dataSource.query(
      'SELECT FROM jsonb_to_recordset($1) AS s(id uuid, at timestamptz) JOIN usage_events e ON e.id = s.id AND e.at = s.at',
      [JSON.stringify(usages.map(({ id, at }) => ({ id, at })))],
    );
    expect(found).toHaveLength(usages.length);
  });

  it('stores any text that a client may send', async () => {
    const odd = 'a\0\uD800' + '\u{1F600}'.repeat(400);
    const { dimensions } = note();
    const metadata = { ['__proto__']: 'x', odd };
    const [row] = await written(
      note({ dimensions: { ...dimensions, model: odd, traceId: odd, endpoint: odd, mcpTool: odd, metadata } }),
    );
    const cut = (characters: number): string => `a\uFFFD\uFFFD${'\u{1F600}'.repeat(characters - 3)}`;
    expect(row).toMatchObject({
      model: cut(255),
      mcpTool: cut(255),
      endpoint: cut(64),
      traceId: cut(128),
      metadata: { ['__proto__']: 'x', odd: cut(255) },
    });
  });

  it('writes a usage once, however often it is recorded', async () => {
    const usage = note();
    await written(usage, usage);
    await written(usage);
    expect(await rows()).toHaveLength(1);
  });

  it('keeps usage during an outage of the database, and counts it once after a lost answer', async () => {
    const database = new BreakableDatabase(dataSource);
    database.breakages.push('refused', 'answer lost', 'refused');
    const notes = open({}, database.dataSource);
    for (let count = 0; count < 3; count += 1) notes.add(note());
    await eventually(async () => sizes.length > 0);
    expect([failed, dropped, (await rows()).length]).toEqual([3, 0, 3]);
  });

  it('writes other rows when the database refuses one', async () => {
    const usages = [note(), note({ id: 'no uuid' }), note()];
    expect(await written(...usages)).toHaveLength(2);
    expect([dropped, failed]).toEqual([1, 0]);
  });

  it('drops a usage whose figures cannot be counted', async () => {
    expect(await written(note({ figures: cost(-1n) }), note({ figures: cost(0n, MAX_FIGURE + 1n) }))).toEqual([]);
    expect(dropped).toBe(2);
  });

  it('drops usage when the database is away for too long at shutdown', async () => {
    const database = new BreakableDatabase(dataSource);
    database.breakages.push(...Array.from({ length: 1_000 }, () => 'refused' as const));
    const notes = open({ drainMs: 100 }, database.dataSource);
    notes.add(note());
    await notes.close();
    notes.add(note());
    expect([dropped, await rows()]).toEqual([2, []]);
  });
});
