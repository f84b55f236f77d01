import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type JsonObject, readObject, readString } from '../src/common/json/read.js';
import { bundledPrices } from '../src/usage/prices/bundled-prices.js';
import { PriceCatalogue } from '../src/usage/prices/price-catalogue.js';
import { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const VALID = { provider: 'cohere', model: 'rerank-v3.5', unit: 'search_unit', price: '0.0018' };
const NOT_FOUND = { status: 404, code: 'not_found', param: null, source: 'gateway' };

let gateway: TestApp;
let admin: GatewayClient;
let organisationId: string;
let other: Tenant;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  organisationId = readString((await admin.read('/v1/workspaces/default'))['organisation_id'], 'organisation_id');
  other = await addTenant(gateway, 'other');
});

afterEach(async () => {
  await gateway.dataSource.query('DELETE FROM "prices"');
  for (const organisation of [organisationId, other.organisationId]) catalogue().forget(organisation);
});

afterAll(() => gateway.close());

function catalogue(): PriceCatalogue {
  return gateway.app.get(PriceCatalogue, { strict: false });
}

async function make(fields: object = {}, client = admin): Promise<string> {
  return readString((await client.create('/v1/prices', { ...VALID, ...fields }))['id'], 'id');
}

/** Adds a price for all organisations, as an importer does. */
async function addForAll(price: string): Promise<string> {
  const rows: readonly { readonly id: string }[] = await gateway.dataSource.query(
    `INSERT INTO "prices" ("provider", "model", "unit", "price", "effective_from", "source", "created_by")
     VALUES ($1, $2, $3, $4, now() - interval '1 hour', 'litellm', 'prices:import') RETURNING "id"`,
    [VALID.provider, VALID.model, VALID.unit, price],
  );
  return rows[0]?.id ?? '';
}

/** Ids of the prices in force for an organisation, at a time relative to now in seconds. */
async function idsInForce(organisation = organisationId, seconds = 0, model = VALID.model): Promise<readonly string[]> {
  const at = new Date(gateway.clock.now().getTime() + seconds * 1_000);
  const prices = await catalogue().pricesFor(organisation, VALID.provider, model, at);
  return prices.map(({ id }) => id);
}

async function listed(query = '', client = admin): Promise<readonly JsonObject[]> {
  return client.list(`/v1/prices?page_size=100${query}`);
}

const bundledId = (model: string): string => bundledPrices().find((price) => price.model === model)?.id ?? '';
const bundledIds = (): readonly string[] => bundledPrices().map(({ id }) => id);
const nowSeconds = (): number => Math.floor(gateway.clock.now().getTime() / 1_000);

describe('a price', () => {
  it('creates and reads a price', async () => {
    const before = nowSeconds();
    const created = await admin.create('/v1/prices', VALID);
    expect(created).toEqual({ id: expect.any(String), object: 'price' });
    const price = await admin.read(`/v1/prices/${String(created['id'])}`);
    expect(price).toEqual({
      ...VALID,
      mode: 'standard',
      min_input_tokens: 0,
      id: created['id'],
      object: 'price',
      organisation_id: organisationId,
      effective_from: expect.any(Number),
      source: 'api',
      created_at: expect.any(Number),
    });
    expect(Number(price['effective_from'])).toBeGreaterThanOrEqual(before);
  });

  it.each([
    ['0', '0'],
    ['0.000000000000000001', '0.000000000000000001'],
    ['999999.999999999999999999', '999999.999999999999999999'],
    ['1000000', '1000000'],
    ['000001000000.000', '1000000'],
    ['1.500', '1.5'],
    ['0002', '2'],
  ])('returns a price of %s with all its digits', async (price, shown) => {
    expect(await admin.read(`/v1/prices/${await make({ price })}`)).toMatchObject({ price: shown });
  });

  it.each([
    ['provider', undefined],
    ['provider', 'Cohere'],
    ['provider', 1],
    ['model', undefined],
    ['model', ''],
    ['model', 'x'.repeat(513)],
    ['model', 're*rank'],
    ['model', '**'],
    ['model', 'a\0b'],
    ['model', null],
    ['unit', undefined],
    ['unit', 'token'],
    ['price', undefined],
    ['price', 0.0018],
    ['price', '-0.1'],
    ['price', ''],
    ['price', '1e-3'],
    ['price', '0,002'],
    ['price', '.5'],
    ['price', '0.0000000000000000001'],
    ['price', '1000000.000000000000000001'],
    ['price', '999999999999'],
    ['price', '1000000000000'],
    ['price', 'NaN'],
    ['effective_from', 946_684_799],
    ['effective_from', 1_795_219_200_000],
    ['effective_from', 1.5],
    ['effective_from', '1795219200'],
    ['effective_from', null],
    ['source', 'mine'],
    ['currency', 'EUR'],
  ])('names the field of a price when %s is %j', async (field, value) => {
    const answer = await admin.post('/v1/prices', { ...VALID, [field]: value });
    expect([answer.status, ...brokenRulesOf(answer)]).toEqual([400, field]);
  });

  it('returns why a price as a JSON number is refused', async () => {
    const { message } = readObject(
      jsonOf(await admin.post('/v1/prices', { ...VALID, price: 0.002 }))['error'],
      'error',
    );
    expect(message).toContain('must be a string');
  });

  it('never changes or deletes a price', async () => {
    const path = `/v1/prices/${await make()}`;
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect((await admin.request(method, path, {})).status).toBe(405);
    }
    expect(await admin.read(path)).toMatchObject({ price: VALID.price });
  });

  it('finds a price by its id in capitals, also a bundled price', async () => {
    for (const id of [await make(), bundledId('rerank-v3.5')]) {
      expect(await admin.read(`/v1/prices/${id.toUpperCase()}`)).toMatchObject({ id });
    }
  });

  it('writes a new price to the audit log', async () => {
    const id = await make({ effective_from: nowSeconds() });
    const [entry] = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entry).toMatchObject({
      action: 'prices.create',
      resource_type: 'price',
      changed_fields: ['provider', 'model', 'unit', 'price', 'effective_from'],
    });
  });

  it('lets only callers of the organisation set prices, and workspaces read them', async () => {
    const id = await make();
    const scopes = ['prices.create', 'prices.read', 'prices.list'];
    const { client } = await admin.createKey({ level: 'workspace', workspace_id: 'default', scopes });
    expect(refusalOf(await client.post('/v1/prices', VALID))).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(await client.read(`/v1/prices/${id}`)).toMatchObject({ id });
    expect((await listed('', client))[0]).toMatchObject({ id });
  });
});

describe('the list of prices', () => {
  it("lists own prices first, then the operator's, then the bundled ones", async () => {
    const operator = await addForAll('0.0019');
    const [first, second] = [await make(), await make({ model: 'mine-*' })];
    const list = await listed();
    expect(list.slice(0, 3).map(({ id }) => id)).toEqual([second, first, operator]);
    expect(list.slice(3).map(({ id }) => id)).toEqual(bundledIds().slice(0, 97));
    expect(list[2]).toMatchObject({ organisation_id: null, source: 'litellm' });
    expect(list[3]).toMatchObject({
      organisation_id: null,
      source: expect.stringMatching(/^https:/),
      created_at: null,
    });
  });

  it('pages through all prices', async () => {
    const own: string[] = [];
    for (const price of ['1', '2', '3']) own.unshift(await make({ price }));
    const all = [...own, ...bundledIds()];
    const pages: unknown[] = [];
    // The first of a later page is neither the first of its list nor the last.
    for (let page = 0; page * 70 < all.length; page += 1) {
      const query = `/v1/prices?page_size=70&current_page=${page}`;
      expect((await admin.read(query))['total']).toBe(all.length);
      pages.push(...(await admin.list(query)).map(({ id }) => id));
    }
    expect(pages).toEqual(all);
    const [first, second] = [
      await admin.list('/v1/prices?page_size=2'),
      await admin.list('/v1/prices?page_size=2&current_page=1'),
    ];
    expect([...first, ...second].map(({ id }) => id)).toEqual(all.slice(0, 4));
  });

  it('filters prices by provider, model and unit', async () => {
    const id = await make({ unit: 'request' });
    expect((await listed('&provider=cohere&model=rerank-v3.5')).map((price) => price['id'])).toEqual([
      id,
      bundledId('rerank-v3.5'),
    ]);
    expect((await listed('&provider=cohere&unit=request')).map((price) => price['id'])).toEqual([id]);
    expect(await listed('&provider=pinecone')).toEqual([]);
    expect(await listed(`&model=${encodeURIComponent('*')}`)).toMatchObject([{ provider: 'local', price: '0' }]);
  });

  it('filters prices by model in any case', async () => {
    const id = await make({ model: 'Rerank-V3.5' });
    for (const model of ['rerank-v3.5', 'RERANK-v3.5']) {
      expect((await listed(`&model=${model}`)).map((price) => price['id'])).toEqual([id, bundledId('rerank-v3.5')]);
    }
    expect(await listed('&model=rerank-v3_5')).toEqual([]);
  });

  it('sets prices of modes and tiers', async () => {
    await make({ unit: 'input', model: 'tiered', mode: 'batch', min_input_tokens: 200_000 });
    await make({ unit: 'input', model: 'tiered' });
    expect(await listed('&model=tiered')).toMatchObject([
      { mode: 'standard', min_input_tokens: 0 },
      { mode: 'batch', min_input_tokens: 200_000 },
    ]);
  });

  it('accepts old names of units, returns them unchanged and finds both names', async () => {
    const older = await make({ unit: 'input_token', model: 'spelt' });
    const newer = await make({ unit: 'input', model: 'spelt' });
    for (const unit of ['input', 'input_token']) {
      const found = await listed(`&model=spelt&unit=${unit}`);
      expect(found.map((price) => [price['id'], price['unit']])).toEqual([
        [newer, 'input'],
        [older, 'input_token'],
      ]);
    }
  });

  it.each(['provider=Cohere', 'unit=token', 'model=', 'source=api', 'page_size=101'])(
    'refuses the list of prices with %s',
    async (query) => {
      const answer = await admin.get(`/v1/prices?${query}`);
      expect([answer.status, ...brokenRulesOf(answer)]).toEqual([400, query.split('=')[0]]);
    },
  );
});

describe('prices of other organisations', () => {
  it("shows other organisations the operator's and bundled prices only", async () => {
    const [own, operator] = [await make(), await addForAll('0.0019')];
    expect(refusalOf(await other.client.get(`/v1/prices/${own}`))).toEqual(NOT_FOUND);
    expect(await other.client.read(`/v1/prices/${operator}`)).toMatchObject({ price: '0.0019' });
    const ids = (await listed('', other.client)).map(({ id }) => id);
    expect(ids).toEqual([operator, ...bundledIds().slice(0, 99)]);
  });

  it("applies each organisation's own prices", async () => {
    const [ours, theirs] = [await make(), await make({ price: '0.5' }, other.client)];
    expect(await idsInForce()).toEqual([ours]);
    expect(await idsInForce(other.organisationId)).toEqual([theirs]);
  });

  it('refuses a price for another organisation', async () => {
    const answer = await admin.post('/v1/prices', { ...VALID, organisation_id: other.organisationId });
    expect(refusalOf(answer)).toMatchObject({ status: 403, code: 'tenant_mismatch' });
  });

  it.each(['nobody', randomUUID(), '%00'])('returns 404 for the unknown price %s', async (id) => {
    expect(refusalOf(await admin.get(`/v1/prices/${id}`))).toEqual(NOT_FOUND);
  });
});

describe('the price in force', () => {
  it("prefers the organisation's own price, then the operator's, then the bundled one", async () => {
    expect(await idsInForce()).toEqual([bundledId('rerank-v3.5')]);
    const operator = await addForAll('0.0019');
    catalogue().forget(organisationId);
    expect(await idsInForce()).toEqual([operator]);
    const own = await make();
    expect(await idsInForce()).toEqual([own]);
    expect(await idsInForce(other.organisationId)).toEqual([operator]);
  });

  it('applies the newest price in force at the time of the call', async () => {
    const now = nowSeconds();
    const early = await make({ effective_from: now - 100 });
    const late = await make({ effective_from: now + 100 });
    expect(await idsInForce(organisationId, -200)).toEqual([bundledId('rerank-v3.5')]);
    expect(await idsInForce()).toEqual([early]);
    expect(await idsInForce(organisationId, 200)).toEqual([late]);
  });

  it('applies the later of two prices with the same effective_from', async () => {
    const from = nowSeconds() - 10;
    await make({ price: '1', effective_from: from });
    const second = await make({ price: '2', effective_from: from });
    expect(await idsInForce()).toEqual([second]);
  });

  it('applies the later of two prices of one second, with or without effective_from', async () => {
    // Advances to the middle of a second.
    gateway.clock.advance(1_500 - (gateway.clock.now().getTime() % 1_000));
    await make({ price: '1' });
    const second = await make({ price: '2', effective_from: nowSeconds() });
    expect(await idsInForce()).toEqual([second]);
    const third = await make({ price: '3' });
    expect(await idsInForce()).toEqual([third]);
  });

  it('prefers a price for the whole model name to one for a prefix', async () => {
    const [some, name] = [await make({ model: 'rerank-*' }), await make()];
    expect(await idsInForce()).toEqual([name]);
    expect(await idsInForce(organisationId, 0, 'rerank-v9')).toEqual([some]);
    expect(await idsInForce(organisationId, 0, 'embed-v4')).toEqual([]);
  });
});

describe('the guide to prices', () => {
  const guide = readFileSync(new URL('../docs/guides/prices.md', import.meta.url), 'utf8');
  const bodies = [...guide.matchAll(/-d '(.*)'/g)].map(([, body = '']) => body);

  it.each(bodies)('creates the price of the guide: %s', async (body) => {
    const fields = readObject(JSON.parse(body), 'body');
    const id = readString((await admin.create('/v1/prices', fields))['id'], 'id');
    expect(await admin.read(`/v1/prices/${id}`)).toMatchObject(fields);
  });

  it('finds two examples in the guide to prices', () => expect(bodies).toHaveLength(2));
});

describe('the model catalogue', () => {
  it('says what a model reads, writes and costs, and who says so', async () => {
    const [model, ...others] = await admin.list('/v1/model-catalogue?search=RERANK-V3.5&provider=cohere');
    expect(others).toEqual([]);
    expect(model).toEqual({
      object: 'catalogue-model',
      provider: 'cohere',
      model: 'rerank-v3.5',
      context_window: 4_096,
      max_output_tokens: 0,
      input_modalities: ['text'],
      output_modalities: [],
      source: expect.stringMatching(/^https:/),
      read_on: '2026-11-21',
      prices: [{ price_id: expect.any(String), unit: 'search_unit', price: expect.stringMatching(/^0\.00\d+$/) }],
    });
  });

  it("has the organisation's own price, for callers of its workspaces too, and not that of another", async () => {
    await make({ price: '0.5' });
    await make({ price: '0.7' }, other.client);
    const { client } = await admin.createKey({
      scopes: ['prices.list'],
      level: 'workspace',
      workspace_id: 'default',
    });
    for (const caller of [admin, client]) {
      const [model] = await caller.list('/v1/model-catalogue?search=rerank-v3.5&provider=cohere');
      expect(model?.['prices']).toMatchObject([{ price: '0.5' }]);
    }
  });

  it('filters by modality, and sorts by window over all pages', async () => {
    const path = '/v1/model-catalogue?input_modality=image&sort=-context_window&page_size=50';
    const pages = await Promise.all([0, 1].map((page) => admin.list(`${path}&current_page=${page}`)));
    const found = pages.flat();
    expect(found.every((model) => [model['input_modalities']].flat().includes('image'))).toBe(true);
    const windows = found.map((model) => Number(model['context_window']));
    expect(windows).toEqual([...windows].sort((one, another) => another - one));
    expect(windows).toHaveLength(100);
  });

  it.each(['provider=nobody', 'input_modality=smell', 'sort=price', 'page_size=101'])(
    'refuses the query %s',
    async (query) => {
      const refusal = refusalOf(await admin.get(`/v1/model-catalogue?${query}`));
      expect(refusal).toMatchObject({ code: 'validation_failed', param: query.split('=')[0] });
    },
  );
});
