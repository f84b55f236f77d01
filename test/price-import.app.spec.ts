import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type JsonObject, readObject } from '../src/common/json/read.js';
import { COHERE, JINA, LITELLM, VOYAGE } from '../src/usage/prices/importers/__fixtures__/lists.js';
import { type ImportOutcome, importPrices, type PriceListFile } from '../src/usage/prices/importers/import-prices.js';
import { PriceRow } from '../src/usage/prices/price.entity.js';
import { reportLines } from '../src/usage/prices/importers/import-report.js';
import { GatewayClient } from './support/gateway-client.js';
import { startTestApp, type TestApp } from './support/test-app.js';

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
});

afterEach(async () => {
  for (const table of ['prices', 'price_imports']) await gateway.dataSource.query(`DELETE FROM "${table}"`);
});

afterAll(() => gateway.close());

function run(file: PriceListFile, accept = false): Promise<ImportOutcome> {
  return importPrices(gateway.dataSource, file, { accept, clock: gateway.clock });
}

/** The file with one text replaced. */
function changed(file: PriceListFile, from: string | RegExp, to: string): PriceListFile {
  const replaced = file.text.replace(from, to);
  expect(replaced).not.toBe(file.text);
  return { ...file, text: replaced };
}

/** A price in dollars in Portkey's format. */
function cents(dollars: string): string {
  return `{"request_token": {"price": ${Number(dollars) * 100}}}`;
}

async function imported(): Promise<readonly JsonObject[]> {
  const all = await admin.list('/v1/prices?page_size=100');
  return all.filter((price) => String(price['source']).includes('.json') && price['created_at'] !== null);
}

describe('a price import', () => {
  it('writes prices that differ from the prices in force, for all organisations', async () => {
    const outcome = await run(COHERE);
    expect(outcome).toMatchObject({ isWritten: true, unchanged: 4, objections: [], vanished: [] });
    expect(await imported()).toEqual([
      expect.objectContaining({
        provider: 'cohere',
        model: 'rerank-v4.0-pro',
        unit: 'search_unit',
        price: '0.002',
        organisation_id: null,
        source: 'portkey:cohere.json',
      }),
    ]);
  });

  it('writes nothing when the same prices are imported again', async () => {
    expect((await run(JINA)).changes).toHaveLength(2);
    gateway.clock.advance(1_000);
    expect(await run(JINA)).toMatchObject({ isWritten: true, changes: [], unchanged: 2 });
    expect(await imported()).toHaveLength(2);
  });

  it.each([{ mode: 'batch' }, { minInputTokens: 1_000 }] as const)(
    'does not compare a list with prices of another mode or tier: %j',
    async (other) => {
      await run(JINA);
      const prices = gateway.dataSource.getRepository(PriceRow);
      const standard = await prices.findOneByOrFail({ provider: 'jina', model: 'jina-reranker-v1-base-en' });
      gateway.clock.advance(1_000);
      const { id: _id, ...values } = standard;
      await prices.insert({ ...values, ...other, price: '0.000009', effectiveFrom: gateway.clock.now() });
      gateway.clock.advance(1_000);
      expect(await run(JINA)).toMatchObject({ changes: [], unchanged: 2 });
    },
  );

  it('adds a row for a new price, and keeps the old row', async () => {
    await run(JINA);
    gateway.clock.advance(1_000);
    const dearer = changed(JINA, /("jina-reranker-v1-base-en"[^}]*"price": )0.000002/, '$10.000005');
    expect((await run(dearer)).changes).toHaveLength(1);
    const prices = (await imported()).filter((price) => price['model'] === 'jina-reranker-v1-base-en');
    expect(prices.map(({ price }) => price)).toEqual(['0.00000005', '0.00000002']);
  });

  it.each([
    ['portkey', 'cohere.json', (price: string) => `{"pricing_config": {"pay_as_you_go": ${cents(price)}}}`],
    [
      'litellm',
      'list.json',
      (price: string) => `{"mode": "rerank", "litellm_provider": "cohere", "input_cost_per_query": ${price}}`,
    ],
  ] as const)('imports one price from %s when a model occurs twice', async (format, name, entry) => {
    const text = `{"Rerank-v3.5": ${entry('0.003')}, "rerank-v3.5": ${entry('0.004')}}`;
    expect((await run({ format, name, text })).changes).toHaveLength(1);
    expect(await imported()).toMatchObject([{ model: 'rerank-v3.5', price: '0.004' }]);
  });

  it('refuses an import when a price changes more than tenfold, unless accepted', async () => {
    const absurd = changed(LITELLM, /("voyage\/rerank-2.5": \{[^}]*"input_cost_per_token": )5e-08/, '$15e-06');
    const refused = await run(absurd);
    expect(refused).toMatchObject({ isWritten: false, changes: [{}] });
    expect(reportLines(refused).join('\n')).toMatch(/^! voyage rerank-2.5 .*\nNothing written.*--accept/m);
    expect(await imported()).toEqual([]);

    expect(await run(absurd, true)).toMatchObject({ isWritten: true });
    expect(await imported()).toMatchObject([{ model: 'rerank-2.5', price: '0.000005' }]);
  });

  it('refuses an import when too many prices of the last import are missing', async () => {
    await run(JINA);
    const shorter = changed(JINA, '"jina-reranker-v1-base-en"', '"jina-embeddings-v1"');
    const refused = await run(changed(shorter, /0.000002(?![^]*0.000002)/, '0.000003'));
    expect(refused).toMatchObject({ isWritten: false, vanished: [{ model: 'jina-reranker-v1-base-en' }] });
    expect(await imported()).toHaveLength(2);
    expect(reportLines(refused)).toContainEqual(expect.stringMatching(/^- jina .*stays at 0.00000002$/));
  });

  it('uses an accepted import as the new baseline', async () => {
    await run(JINA);
    const shorter = changed(JINA, '"jina-reranker-v1-base-en"', '"jina-embeddings-v1"');
    expect(await run(shorter)).toMatchObject({ isWritten: false });
    expect(await run(shorter)).toMatchObject({ isWritten: false });
    expect(await run(shorter, true)).toMatchObject({ isWritten: true, vanished: [{}] });
    expect(await run(shorter)).toMatchObject({ isWritten: true, vanished: [], objections: [] });
    expect(await run(JINA)).toMatchObject({ isWritten: true, changes: [], objections: [] });
    expect(await run(shorter)).toMatchObject({ isWritten: false });
  });

  it('compares missing prices with the whole last import, including unchanged prices', async () => {
    const [name, price] = ['"voyage/rerank-2"', '"input_cost_per_token": '];
    const list = changed(LITELLM, new RegExp(`(${name}: \\{[^}]*${price})5e-08`), '$16e-08');
    expect(await run(list)).toMatchObject({ isWritten: true, changes: [{}], unchanged: 11 });
    const gone = changed(list, name, '"voyage/embed-2"');
    expect(await run(gone)).toMatchObject({ isWritten: true, vanished: [{ model: 'rerank-2' }] });
    const document = readObject(JSON.parse(list.text), 'list');
    const lone = { ...list, text: JSON.stringify({ 'voyage/rerank-2': document['voyage/rerank-2'] }) };
    const refused = await run(lone);
    expect(refused).toMatchObject({
      isWritten: false,
      objections: ['11 of the 11 prices of the last import are gone'],
    });
    expect(refused.vanished).toHaveLength(11);
  });

  it('does not treat prices of another list as its own', async () => {
    await run(JINA);
    expect(await run(LITELLM)).toMatchObject({ isWritten: true, vanished: [], objections: [] });
  });

  it.each([
    ['dollars for cents', VOYAGE, 'dollars'],
    ['no JSON', { ...COHERE, text: '<html>' }, 'cohere.json is not JSON'],
    ['an empty list', { ...LITELLM, text: '{}' }, undefined],
  ])('imports nothing from %s', async (_what, file, message) => {
    if (message === undefined) expect(await run(file)).toMatchObject({ isWritten: false });
    else await expect(run(file)).rejects.toThrow(message);
    expect(await imported()).toEqual([]);
  });

  it('writes each price once when two imports run together', async () => {
    await Promise.all([run(JINA), run(JINA)]);
    expect(await imported()).toHaveLength(2);
  });

  it('sees the prices of a concurrent import that committed first', async () => {
    const { dataSource, clock } = gateway;
    const transaction = dataSource.transaction.bind(dataSource);
    let other: Promise<unknown> | undefined;
    const turns = jest.spyOn(dataSource, 'transaction').mockImplementationOnce(async (...given: unknown[]) => {
      await other;
      const mine: Promise<unknown> = Reflect.apply(transaction, undefined, given);
      return mine;
    });
    const first = run(JINA);
    clock.advance(1_000);
    other = run(JINA);
    await first;
    turns.mockRestore();
    expect(await imported()).toHaveLength(2);
  });
});
