import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { json, type Reply } from './support/fake-provider.js';
import { requestLine } from './support/request-line.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import {
  COST,
  COST_NANO,
  errorOf,
  MODEL,
  scored,
  startUsageGateway,
  type UsageGateway,
} from './support/usage-gateway.js';

const EXCEEDED = { status: 412, code: 'usage_limit_exceeded', param: null, source: 'gateway' };
const CONTENDED = { status: 429, code: 'usage_limit_contended', param: null, source: 'gateway' };
const OK = 200;

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway();
});
beforeEach(() => gateway.reset());
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

/** The statuses of that many calls, one after the other. */
async function statusesOf(count: number): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < count; index += 1) {
    statuses.push((await gateway.call()).status);
    await settled();
  }
  return statuses;
}

async function settled(): Promise<void> {
  await eventually(async () => (await gateway.books.open()) === 0);
}

describe('a limit that is reached', () => {
  it('refuses a call over the limit with 412 without calling the provider or recording it', async () => {
    const id = await gateway.limit({ name: 'Two calls', credit_limit: 2 * COST, periodic_reset: 'monthly' });
    expect(await statusesOf(3)).toEqual([OK, OK, 412]);
    expect(gateway.provider.calls).toHaveLength(2);
    expect(await gateway.books.ledger(2)).toHaveLength(2);

    const refused = await gateway.call();
    const now = gateway.app.clock.now();
    const reset = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) / 1_000;
    expect(refusalOf(refused)).toEqual(EXCEEDED);
    expect(errorOf(refused)).toMatchObject({
      type: 'usage_limit_error',
      message: expect.stringContaining('"Two calls"'),
      details: [
        {
          policy_id: id,
          name: 'Two calls',
          type: 'cost',
          value_key: expect.stringMatching(/^api_key:[0-9a-f-]{36}$/),
          credit_limit: 0.004,
          current_usage: 0.004,
          reserved: 0,
          next_reset_at: reset,
        },
      ],
    });
    expect(refused.headers).toMatchObject({
      'x-gateway-limit-policy': id,
      'x-gateway-limit-remaining': '0',
      'x-gateway-limit-reset': String(reset),
      'x-should-retry': 'false',
    });
    expect(refused.headers).not.toHaveProperty('retry-after');
  });

  it('returns Retry-After when only calls in flight exhaust the limit', async () => {
    const id = await gateway.limit({ credit_limit: COST });
    let release: () => void = () => undefined;
    const held: Reply = (response, call) => {
      release = () => scored()(response, call);
    };
    gateway.provider.replyWith(held);
    const first = gateway.call();
    await eventually(() => gateway.provider.calls.length === 1);
    const second = await gateway.call();
    expect(refusalOf(second)).toEqual(CONTENDED);
    expect(second.headers).toMatchObject({
      'retry-after': '1',
      'x-gateway-limit-policy': id,
      'x-gateway-limit-remaining': '0',
    });
    expect(second.headers).not.toHaveProperty('x-should-retry');
    expect(errorOf(second)['details']).toMatchObject([{ current_usage: 0, reserved: COST, next_reset_at: null }]);
    release();
    expect((await first).status).toBe(OK);
    await settled();
    expect((await gateway.call()).status).toBe(412);
  });

  it('returns the remaining amount of the tightest limit', async () => {
    await gateway.limit({ credit_limit: 1 });
    await gateway.limit({ credit_limit: 10 * COST });
    const answer = await gateway.call({ headers: { 'x-gateway-trace-id': 'remaining' } });
    expect(answer.headers['x-gateway-limit-remaining']).toBe('0.018');
    expect(await requestLine(gateway.app, 'remaining')).toMatchObject({
      cost_nano: Number(COST_NANO),
      limit_decision: 'admitted',
    });
  });

  it('lists all exceeded limits and leaves the others unchanged', async () => {
    const full = await gateway.limit({ credit_limit: 0 });
    const roomy = await gateway.limit({ credit_limit: 1 });
    const tokens = await gateway.limit({ credit_limit: 1, type: 'tokens' });
    const refused = await gateway.call();
    expect(errorOf(refused)['details']).toEqual([
      expect.objectContaining({ policy_id: full, type: 'cost' }),
      expect.objectContaining({ policy_id: tokens, type: 'tokens' }),
    ]);
    expect(await gateway.admin.list(`/v1/policies/usage-limits/${roomy}/entities`)).toEqual([]);
    expect(await gateway.books.ledger(0)).toEqual([]);
  });

  it('reserves nothing for a call without a policy', async () => {
    expect((await gateway.call()).headers).not.toHaveProperty('x-gateway-limit-remaining');
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({
      costNano: String(COST_NANO),
      quantities: { search_unit: 1 },
      bucketIds: [],
      source: 'provider',
    });
  });
});

describe('the amount of a limit', () => {
  it.each([
    [0, 412],
    [0.000001, 412],
    [0.001999999, 412],
    [0.002, OK],
    [1e12, OK],
  ])('limits calls to %d dollars', async (credit_limit, status) => {
    await gateway.limit({ credit_limit });
    expect((await gateway.call()).status).toBe(status);
  });

  it('counts tokens for providers that bill by another unit', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 1_000 });
    expect((await gateway.call()).status).toBe(OK);
    const [row] = await gateway.books.ledger(1);
    expect(Number(row?.tokens)).toBeGreaterThan(10);
    expect(row?.amounts).toEqual([row?.tokens]);
  });

  it('counts tokens of the built-in model, which costs nothing', async () => {
    const created = await gateway.admin.create('/v1/virtual-keys', { name: 'built in', provider: 'local' });
    const local = String(created['slug']);
    await gateway.limit({ credit_limit: 0 });
    const tokens = await gateway.limit({ type: 'tokens', credit_limit: 150 });
    const request = { model: 'any', query: 'capital', documents: ['Paris is the capital', 'Rome'] };
    expect((await gateway.rerank(local, request)).status).toBe(OK);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ costNano: '0', provider: 'local', source: 'computed', outcome: 'answered' });
    const refused = await gateway.rerank(local, request);
    expect(errorOf(refused)['details']).toEqual([expect.objectContaining({ policy_id: tokens })]);
  });

  it('applies a raised or lowered limit immediately', async () => {
    const id = await gateway.limit({ credit_limit: COST });
    expect(await statusesOf(2)).toEqual([OK, 412]);
    await gateway.admin.patch(`/v1/policies/usage-limits/${id}`, { credit_limit: 3 * COST });
    expect(await statusesOf(1)).toEqual([OK]);
    await gateway.admin.patch(`/v1/policies/usage-limits/${id}`, { credit_limit: COST });
    expect(await statusesOf(1)).toEqual([412]);
  });

  it('lets a call in flight finish when the limit is lowered', async () => {
    const id = await gateway.limit({ credit_limit: 1 });
    let release: () => void = () => undefined;
    gateway.provider.replyWith((response, call) => {
      release = () => scored()(response, call);
    });
    const running = gateway.call();
    await eventually(() => gateway.provider.calls.length === 1);
    await gateway.admin.patch(`/v1/policies/usage-limits/${id}`, { credit_limit: 0 });
    release();
    expect((await running).status).toBe(OK);
    await settled();
    expect((await gateway.call()).status).toBe(412);
  });

  it('counts but never refuses under a monitoring policy', async () => {
    const id = await gateway.limit({ credit_limit: COST, enforcement: 'monitor' });
    expect(await statusesOf(3)).toEqual([OK, OK, OK]);
    const [entity] = await gateway.admin.list(`/v1/policies/usage-limits/${id}/entities`);
    expect(entity).toMatchObject({ current_usage: 3 * COST, status: 'exhausted', reserved: 0 });
  });

  it('reports which calls a monitoring policy would refuse', async () => {
    const id = await gateway.limit({ credit_limit: COST, enforcement: 'monitor' });
    const lineOf = async (trace: string): Promise<unknown> => {
      expect((await gateway.call({ headers: { 'x-gateway-trace-id': trace } })).status).toBe(OK);
      await settled();
      return requestLine(gateway.app, trace);
    };
    const told = async (): Promise<number> => {
      const { text } = await gateway.admin.get('/metrics');
      return Number(/gateway_limit_monitored_total\{result="exceeded"\} (\d+)/.exec(text)?.[1] ?? 0);
    };
    const before = await told();
    expect(await lineOf('within')).not.toHaveProperty('limit_monitored');
    expect(await told()).toBe(before);
    const over = { limit_decision: 'admitted', limit_monitored: 'exceeded', limit_monitored_policy: id };
    expect(await lineOf('over')).toMatchObject(over);
    expect(await told()).toBe(before + 1);
  });

  it('omits monitoring policies from the remaining amount', async () => {
    await gateway.limit({ credit_limit: COST, enforcement: 'monitor' });
    expect((await gateway.call()).headers).not.toHaveProperty('x-gateway-limit-remaining');
    await gateway.limit({ credit_limit: 10 * COST });
    expect((await gateway.call()).headers['x-gateway-limit-remaining']).toBe('0.018');
  });

  it('stops enforcing an archived limit', async () => {
    const id = await gateway.limit({ credit_limit: 0 });
    expect(await statusesOf(1)).toEqual([412]);
    await gateway.admin.delete(`/v1/policies/usage-limits/${id}`);
    expect(await statusesOf(1)).toEqual([OK]);
  });

  it('admits calls again after a manual reset', async () => {
    const id = await gateway.limit({ credit_limit: COST });
    expect(await statusesOf(2)).toEqual([OK, 412]);
    const [entity] = await gateway.admin.list(`/v1/policies/usage-limits/${id}/entities`);
    await gateway.admin.put(`/v1/policies/usage-limits/${id}/entities/${String(entity?.['id'])}/reset`, undefined);
    expect(await statusesOf(2)).toEqual([OK, 412]);
  });

  it('resets the usage at the start of a new period', async () => {
    await gateway.limit({ credit_limit: COST, periodic_reset: 'weekly' });
    expect(await statusesOf(2)).toEqual([OK, 412]);
    gateway.app.clock.advance(7 * 86_400_000);
    expect(await statusesOf(2)).toEqual([OK, 412]);
    gateway.app.clock.advance(-7 * 86_400_000);
    expect(await statusesOf(1)).toEqual([412]);
  });
});

describe('a limit that cannot be read', () => {
  it('refuses only the calls of an unreadable limit until it is archived', async () => {
    const jina = await gateway.virtualKey('jina');
    const callJina = async (): Promise<number> => {
      gateway.provider.replyWith(json({ results: [], usage: { total_tokens: 5 } }));
      const answer = await gateway.rerank(jina, { model: 'jina-reranker-v3', query: 'q', documents: ['a'] });
      gateway.provider.replyWith(scored());
      return answer.status;
    };
    const conditions = [{ key: 'provider', value: 'cohere' }];
    const id = await gateway.limit({ credit_limit: 1, conditions });
    await gateway.app.dataSource.query(`UPDATE usage_policies SET credit_limit = 'NaN' WHERE id = $1`, [id]);
    gateway.app.clock.advance(60_000);
    const refused = await gateway.call();
    expect(refusalOf(refused)).toMatchObject({ status: 503, code: 'usage_limit_unreadable' });
    expect(refused.headers['x-gateway-limit-policy']).toBe(id);
    expect(await callJina()).toBe(OK);
    const simulate = (body: object): Promise<Answer> => gateway.admin.post('/v1/policies/usage-limits/simulate', body);
    expect((await simulate({ provider: 'cohere' })).status).toBe(503);
    expect((await simulate({ provider: 'jina' })).status).toBe(200);
    expect(gateway.app.log()).toContain('"event":"policy_unreadable"');
    expect((await gateway.admin.delete(`/v1/policies/usage-limits/${id}`)).status).toBe(204);
    expect((await gateway.call()).status).toBe(OK);
    await gateway.books.ledger(2);
  });

  it.each([
    ['credit_limit', `'NaN'`, { credit_limit: 5 }],
    ['periodic_reset', `'daily'`, { periodic_reset: 'weekly', credit_limit: 5 }],
    ['conditions', `'"none"'`, { conditions: [{ key: 'provider', value: 'cohere' }] }],
    ['conditions', `'[null, {"key": "model", "value": 7}]'`, { conditions: [{ key: 'provider', value: 'cohere' }] }],
    ['enforcement', `'throttle'`, { enforcement: 'monitor' }],
  ])('lists a limit whose %s is %s, and lets it be corrected', async (column, value, correction) => {
    const path = '/v1/policies/usage-limits';
    const id = await gateway.limit({ credit_limit: 1 });
    await gateway.app.dataSource.query(`UPDATE usage_policies SET ${column} = ${value} WHERE id = $1`, [id]);
    expect(await gateway.admin.list(path)).toEqual([await gateway.admin.read(`${path}/${id}`)]);
    const unreadable = { status: 503, code: 'usage_limit_unreadable' };
    expect(refusalOf(await gateway.admin.get(`${path}/${id}/entities`))).toMatchObject(unreadable);
    expect(refusalOf(await gateway.admin.get(`${path}/${id}?include_usage=true`))).toMatchObject(unreadable);
    const corrected = await gateway.admin.patch(`${path}/${id}`, correction);
    expect(jsonOf(corrected)).toMatchObject(correction);
    expect(await gateway.admin.list(`${path}/${id}/entities`)).toEqual([]);
    expect((await gateway.call()).status).toBe(OK);
    await gateway.books.ledger(1);
  });

  it('allows renaming a limit of unknown type, but no new amounts', async () => {
    const path = `/v1/policies/usage-limits/${await gateway.limit({ credit_limit: 1, alert_threshold: 0.25 })}`;
    await gateway.app.dataSource.query(`UPDATE usage_policies SET type = 'calls'`);
    for (const changes of [{ credit_limit: 5 }, { alert_threshold: 0.5 }, { alert_threshold: null }]) {
      const refused = await gateway.admin.patch(path, changes);
      expect(refusalOf(refused)).toMatchObject({ status: 503, code: 'usage_limit_unreadable' });
    }
    expect((await gateway.admin.patch(path, { name: 'Renamed', periodic_reset: 'weekly' })).status).toBe(200);
    expect(await gateway.admin.read(path)).toMatchObject({ name: 'Renamed', credit_limit: 1 });
  });

  it('refuses a new limit for a policy that cannot be read', async () => {
    const path = `/v1/policies/usage-limits/${await gateway.limit({ credit_limit: 1 })}`;
    await gateway.app.dataSource.query(`UPDATE usage_policies SET group_by = '{prompt}'`);
    const refused = await gateway.admin.patch(path, { credit_limit: 5 });
    expect(refusalOf(refused)).toMatchObject({ status: 503, code: 'usage_limit_unreadable' });
    expect(await gateway.admin.read(path)).toMatchObject({ credit_limit: 1 });
  });
});

describe('a model without a price', () => {
  const call = (): ReturnType<UsageGateway['rerank']> =>
    gateway.rerank(gateway.cohere, { model: 'rerank-unheard-of', query: 'q', documents: ['a', 'b'] });

  const told = async (): Promise<number> => {
    const { text } = await gateway.admin.get('/metrics');
    return Number(/gateway_limit_monitored_total\{result="price_unknown"\} (\d+)/.exec(text)?.[1] ?? 0);
  };

  it('refuses and counts a model without a price under a cost limit', async () => {
    await gateway.limit({ credit_limit: 1 });
    const refused = await call();
    expect(refusalOf(refused)).toEqual({ status: 412, code: 'price_unknown', param: 'model', source: 'gateway' });
    expect(refused.headers['x-should-retry']).toBe('false');
    const { text } = await gateway.admin.get('/metrics');
    expect(text).toMatch(/gateway_price_missing_total\{provider="cohere"\} [1-9]/);
  });

  it.each([
    ['no limit', undefined],
    ['only a limit on tokens', { type: 'tokens', credit_limit: 10_000 }],
    ['only a limit that monitors', { credit_limit: 0, enforcement: 'monitor' }],
  ])('admits a model without a price when %s applies', async (_what, fields) => {
    const before = await told();
    if (fields !== undefined) await gateway.limit(fields);
    expect((await call()).status).toBe(OK);
    expect(await told()).toBe(before + (fields !== undefined && 'enforcement' in fields ? 1 : 0));
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ costNano: '0', priceIds: [], quantities: { search_unit: 1 } });
  });

  it('falls back to the list price when the own price is for another unit', async () => {
    await gateway.admin.create('/v1/prices', { provider: 'cohere', model: MODEL, unit: 'output_token', price: '0.01' });
    await gateway.limit({ credit_limit: 1 });
    expect((await gateway.call()).status).toBe(OK);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ costNano: String(COST_NANO), priceIds: ['d9fafbff-3fbd-474f-a8ec-a7b691610bed'] });
  });

  it('refuses a model whose price is for a unit that the provider does not bill', async () => {
    const jina = await gateway.virtualKey('jina');
    const price = { provider: 'jina', model: 'odd-model', unit: 'search_unit', price: '0.01' };
    await gateway.admin.create('/v1/prices', price);
    await gateway.limit({ credit_limit: 1 });
    gateway.provider.replyWith(json({ results: [], usage: { total_tokens: 5 } }));
    const refused = await gateway.rerank(jina, { model: 'odd-model', query: 'q', documents: ['a'] });
    expect(refusalOf(refused)).toMatchObject({ status: 412, code: 'price_unknown' });
  });
});
