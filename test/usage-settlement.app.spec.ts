import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readString } from '../src/common/json/read.js';
import { closedPort } from '../src/upstream/__fixtures__/loopback.js';
import { eventually } from './support/eventually.js';
import { drip, half, hangUp, inTurn, json, type Reply, silence, text } from './support/fake-provider.js';
import { requestLine } from './support/request-line.js';
import { BEDROCK_MODEL } from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';
import { COST, COST_NANO, REQUEST, scored, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const FREE = { outcome: 'failed', costNano: '0', tokens: '0', quantities: {} };
const unitsOf = (search_unit: number): unknown => expect.objectContaining({ search_unit });
const ONE_UNIT = unitsOf(1);
const PRESUMED = { source: 'presumed', outcome: 'unknown', costNano: String(COST_NANO), quantities: ONE_UNIT };
const BILLED = { source: 'provider', outcome: 'answered', costNano: String(COST_NANO), quantities: ONE_UNIT };

let gateway: UsageGateway;
/** Times out after half a second. */
let hasty: string;
/** A port without a listener. */
let nowhere: string;

beforeAll(async () => {
  gateway = await startUsageGateway({ PROVIDER_MAX_RESPONSE_BYTES: '20000' });
  hasty = await gateway.virtualKey('cohere', { config: { timeout_ms: 500 } });
  nowhere = await gateway.virtualKey('cohere', { config: { base_url: `http://127.0.0.1:${await closedPort()}` } });
});
beforeEach(() => gateway.reset());
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

/** With a limit, calls are reserved and settled; without one, they are only recorded. */
describe.each([
  ['with a limit', 1],
  ['without a limit', undefined],
])('settlement %s', (_what, credit_limit) => {
  let policyId: string | undefined;

  beforeEach(async () => {
    policyId = credit_limit === undefined ? undefined : await gateway.limit({ credit_limit });
  });

  /** Expects exactly these rows, in the order of attempts, and a matching counter. */
  async function expectRows(...rows: readonly object[]): Promise<void> {
    const found = await gateway.books.ledger(rows.length);
    expect(found).toEqual(rows.map((row, index) => expect.objectContaining({ attempt: index + 1, ...row })));
    if (policyId === undefined) return;
    const cost = found.reduce((sum, { costNano }) => sum + BigInt(costNano), 0n);
    const [entity] = await gateway.admin.list(`/v1/policies/usage-limits/${policyId}/entities`);
    expect(entity ?? { current_usage: 0, reserved: 0 }).toMatchObject({
      current_usage: Number(cost) / 1e9,
      reserved: 0,
    });
  }

  it('records caller, provider, model and cost of a call in the ledger', async () => {
    const headers = { 'x-gateway-trace-id': 'ledger-row', 'x-gateway-metadata': '{"user":"alice"}' };
    expect((await gateway.call({ headers })).status).toBe(200);
    const { quantities } = await requestLine(gateway.app, 'ledger-row');
    expect(quantities).toEqual({ search_unit: 1, input: expect.any(Number) });
    await expectRows({
      ...BILLED,
      virtualKey: gateway.cohere,
      provider: 'cohere',
      model: 'rerank-v3.5',
      endpoint: 'rerank',
      metadata: { user: 'alice' },
      traceId: 'ledger-row',
      priceIds: [expect.stringMatching(/^[0-9a-f-]{36}$/)],
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
    });
  });

  it.each<[string, Reply, object, number]>([
    ['reports more usage', scored(3), { ...BILLED, costNano: '6000000', quantities: unitsOf(3) }, 200],
    ['reports unbelievable usage', scored(1_000_000), { ...BILLED, source: 'capped' }, 200],
    ['reports zero usage', scored(0), { ...BILLED, costNano: '0', quantities: unitsOf(0) }, 200],
    ['reports no usage', json({ results: [] }), { ...BILLED, source: 'computed' }, 200],
    ['reports negative usage', scored(-1), { ...BILLED, source: 'computed' }, 200],
    ['reports impossible usage', scored(1e300), { ...BILLED, source: 'computed' }, 200],
    ['refuses the request', json({ message: 'no' }, 400), FREE, 400],
    ['refuses the credential', json({}, 401), FREE, 502],
    ['does not implement the call', json({}, 501), FREE, 502],
    ['redirects', json({}, 302, { location: '/elsewhere' }), FREE, 502],
    ['sends a web page', text('<html>', 'text/html'), PRESUMED, 502],
    ['sends no scores', json({ id: 'c-1' }), PRESUMED, 502],
    ['sends a body that is too large', text(' '.repeat(20_001), 'application/json'), PRESUMED, 502],
  ])('records the right cost when a provider %s', async (_what, reply, row, status) => {
    gateway.provider.replyWith(reply);
    expect((await gateway.call()).status).toBe(status);
    await expectRows(row);
  });

  it.each<[string, Reply, readonly object[]]>([
    ['fails twice', inTurn(json({}, 500), json({}, 429), scored()), [FREE, FREE, BILLED]],
    ['hangs up once', inTurn(hangUp, scored()), [PRESUMED, BILLED]],
    ['breaks off once', inTurn(half(JSON.stringify({ results: [] })), scored()), [PRESUMED, BILLED]],
    ['keeps failing', json({}, 503), [FREE, FREE, FREE]],
  ])('records a row for each attempt when a provider %s', async (_what, reply, rows) => {
    gateway.provider.replyWith(reply);
    await gateway.call();
    await expectRows(...rows);
    expect(gateway.provider.calls).toHaveLength(rows.length);
  });

  it('records no row when the provider refuses connections', async () => {
    expect((await gateway.rerank(nowhere, REQUEST)).status).toBe(502);
    expect((await gateway.call()).status).toBe(200);
    await expectRows(BILLED);
  });

  it.each([
    ['does not answer', silence],
    ['never ends', drip(20)],
  ])('presumes the cost at the timeout when a provider %s', async (_what, reply) => {
    gateway.provider.replyWith(reply);
    expect((await gateway.rerank(hasty, REQUEST)).status).toBe(504);
    await expectRows(PRESUMED);
  });

  it('presumes the cost when the client disconnects', async () => {
    gateway.provider.replyWith(silence);
    const leaving = new AbortController();
    const answer = gateway.call({ signal: leaving.signal });
    await eventually(() => gateway.provider.calls.length === 1);
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await expectRows(PRESUMED);
  });

  it('never bills requests that call no model', async () => {
    const openai = await gateway.virtualKey('openai-compatible', { path: '/v1' });
    const headers = { 'x-gateway-virtual-key': openai };
    gateway.provider.replyWith(json({ id: 'ft-1', object: 'list', data: [], has_more: false }));
    for (const path of ['/v1/batches', '/v1/files', '/v1/threads/thread_1/runs', '/v1/fine_tuning/jobs/ft-1']) {
      expect((await gateway.admin.get(path, headers)).status).toBeLessThan(500);
    }
    expect(gateway.provider.calls.length).toBeGreaterThan(2);
    await gateway.call();
    await expectRows({ endpoint: 'rerank' });
  });
});

describe('a call that costs nothing', () => {
  it.each<[string, () => string, Reply]>([
    ['refuses it', () => gateway.cohere, json({ message: 'no' }, 400)],
    ['keeps failing', () => gateway.cohere, json({}, 503)],
    ['charges nothing', () => gateway.cohere, scored(0)],
    ['cannot be reached', () => nowhere, scored()],
  ])('leaves no group behind when the provider %s', async (_what, virtualKey, reply) => {
    const policyId = await gateway.limit({ credit_limit: 1 });
    gateway.provider.replyWith(reply);
    await gateway.rerank(virtualKey(), REQUEST);
    await eventually(async () => (await gateway.books.open()) === 0);
    expect(await gateway.admin.list(`/v1/policies/usage-limits/${policyId}/entities`)).toEqual([]);
  });
});

describe('a provider that bills by token', () => {
  it("charges the provider's own token count to the billionth of a dollar", async () => {
    const voyage = await gateway.virtualKey('voyage');
    await gateway.limit({ credit_limit: 1 });
    await gateway.limit({ type: 'tokens', credit_limit: 100_000 });
    gateway.provider.replyWith(json({ data: [], model: 'rerank-2.5', usage: { total_tokens: 123 } }));
    expect((await gateway.rerank(voyage, { ...REQUEST, model: 'rerank-2.5' })).status).toBe(200);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ costNano: '6150', tokens: '123', quantities: { input: 123 }, source: 'provider' });
    expect(row?.amounts.toSorted()).toEqual(['123', '6150']);
  });
});

describe('a provider that reports no usage', () => {
  it('charges the computed usage when the provider reports none', async () => {
    const bedrock = await gateway.virtualKey('bedrock');
    await gateway.limit({ credit_limit: 1 });
    gateway.provider.replyWith(json({ results: [{ index: 0, relevanceScore: 0.5 }] }));
    expect((await gateway.rerank(bedrock, { ...REQUEST, model: BEDROCK_MODEL })).status).toBe(200);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ costNano: String(COST_NANO), quantities: ONE_UNIT, source: 'computed' });
  });

  it('reserves and charges each page of an answer', async () => {
    const bedrock = await gateway.virtualKey('bedrock');
    await gateway.limit({ credit_limit: 2 * COST });
    gateway.provider.replyWith(
      inTurn(
        json({ results: [{ index: 0, relevanceScore: 0.5 }], nextToken: 'more' }),
        json({ results: [{ index: 1, relevanceScore: 0.4 }] }),
      ),
    );
    const answer = await gateway.rerank(bedrock, { ...REQUEST, model: BEDROCK_MODEL });
    expect(jsonOf(answer)).toMatchObject({ usage: { search_units: 2 } });
    expect(gateway.provider.calls).toHaveLength(2);
    const rows = await gateway.books.ledger(2);
    expect(rows.map(({ costNano }) => costNano)).toEqual([String(COST_NANO), String(COST_NANO)]);
  });

  it('refuses a page that no longer fits into its limit', async () => {
    const bedrock = await gateway.virtualKey('bedrock');
    await gateway.limit({ credit_limit: COST });
    gateway.provider.replyWith(json({ results: [{ index: 0, relevanceScore: 0.5 }], nextToken: 'more' }));
    const refused = await gateway.rerank(bedrock, { ...REQUEST, model: BEDROCK_MODEL });
    expect(refusalOf(refused)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(gateway.provider.calls).toHaveLength(1);
    expect(await gateway.books.ledger(1)).toHaveLength(1);
  });
});

describe('a retry that exceeds the limit', () => {
  it("skips a retry that exceeds the limit and returns the provider's last answer", async () => {
    await gateway.limit({ credit_limit: COST });
    gateway.provider.replyWith(hangUp);
    const answer = await gateway.call({ headers: { 'x-gateway-trace-id': 'no-room' } });
    expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_failed' });
    expect(gateway.provider.calls).toHaveLength(1);
    expect(await gateway.books.ledger(1)).toEqual([expect.objectContaining(PRESUMED)]);
    expect(await requestLine(gateway.app, 'no-room')).toMatchObject({ cost_nano: Number(COST_NANO) });
  });
});

describe('a reported figure that is impossible', () => {
  async function searchUnitsCounted(): Promise<number> {
    const { text: exposition } = await gateway.admin.get('/metrics');
    return Number(/^gateway_search_units_total\{provider="cohere"\} (\S+)$/m.exec(exposition)?.[1] ?? 0);
  }

  it.each([
    ['unknown when it is far too large', 1e300, undefined],
    ['unknown when it is negative', -5, undefined],
    ['rounded up when it is a fraction', 1.2, 2],
  ])('records an impossible figure as %s in answer, metrics, log and ledger', async (_what, reported, believed) => {
    gateway.provider.replyWith(scored(reported));
    const before = await searchUnitsCounted();
    const traceId = `figure-${reported}`;
    const answer = await gateway.call({ headers: { 'x-gateway-trace-id': traceId } });
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)['usage']).toEqual(believed === undefined ? undefined : { search_units: believed });
    expect((await searchUnitsCounted()) - before).toBe(believed ?? 0);
    expect((await requestLine(gateway.app, traceId))['search_units']).toBe(believed);
    expect(await gateway.books.ledger(1)).toMatchObject([{ quantities: { search_unit: believed ?? 1 } }]);
  });
});

describe('a call of the built-in reranker that the gateway refuses', () => {
  it.each([1, undefined])('does not charge a refused call of the built-in reranker: limit %p', async (credit_limit) => {
    const { slug } = await gateway.admin.create('/v1/virtual-keys', { name: 'local', provider: 'local' });
    const local = readString(slug, 'body.slug');
    if (credit_limit !== undefined) await gateway.limit({ type: 'tokens', credit_limit: 100 });
    const request = { model: 'any', query: 'q', documents: [{ title: 'x' }], rank_fields: ['title'] };
    expect(refusalOf(await gateway.rerank(local, request))).toMatchObject({
      status: 400,
      code: 'validation_failed',
      param: 'documents.0.text',
    });
    expect((await gateway.rerank(local, { ...request, documents: ['x'] })).status).toBe(200);
    expect(await gateway.books.ledger(1)).toEqual([
      expect.objectContaining({ outcome: 'answered', provider: 'local' }),
    ]);
  });
});
