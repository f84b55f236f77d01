import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type JsonObject, readString } from '../src/common/json/read.js';
import { UsageEvent } from '../src/usage/usage-event.entity.js';
import { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { addTenant } from './support/tenants.js';

const DAY = 86_400;
/** 21 November 2026, 00:00 UTC. */
const START = Date.UTC(2026, 10, 21) / 1_000;
const RANGE = `from=${START}&to=${START + DAY}`;

let gateway: TestApp;
let admin: GatewayClient;
let organisationId: string;
let workspaceId: string;
/** A key of the workspace. */
let member: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  workspaceId = await admin.createWorkspace('Team');
  organisationId = readString((await admin.read('/v1/workspaces/default'))['organisation_id'], 'organisation_id');
  ({ client: member } = await admin.createKey({
    level: 'workspace',
    workspace_id: workspaceId,
    scopes: ['usage.read'],
  }));
  await write({ at: 0, costNano: '1' });
  await write({ at: 3_599, costNano: '2000000', metadata: { team: 'search', user: 'alice' } });
  await write({
    at: 3_600,
    model: 'rerank-2.5',
    provider: 'voyage',
    costNano: '3',
    tokens: '40',
    quantities: { input: 40 },
  });
  await write({ at: DAY - 1, workspaceId, apiKeyId: 'key-2', source: 'presumed', metadata: { team: 'ads' } });
  await write({ at: DAY, costNano: '999' });
  await write({ at: 30 * DAY, costNano: '5' });
});
afterAll(() => gateway.close());

type Fields = Partial<Omit<UsageEvent, 'at'>> & { readonly at: number };

/** A row of the ledger, that many seconds after the start. */
async function write({ at, ...fields }: Fields, organisation = organisationId): Promise<void> {
  await gateway.dataSource.getRepository(UsageEvent).insert({
    id: randomUUID(),
    at: new Date((START + at) * 1_000),
    organisationId: organisation,
    workspaceId: null,
    apiKeyId: 'key-1',
    virtualKey: 'cohere',
    provider: 'cohere',
    model: 'rerank-v3.5',
    endpoint: 'rerank',
    mcpServer: null,
    mcpTool: null,
    metadata: {},
    traceId: 'trace',
    attempt: 1,
    costNano: '10',
    tokens: '100',
    quantities: { input: 100, search_unit: 1 },
    mode: 'standard',
    tier: 0,
    source: 'provider',
    outcome: 'answered',
    priceIds: [],
    firstTokenMs: null,
    bucketIds: [],
    amounts: [],
    ...fields,
  });
}

function report(query: string, client = admin): Promise<readonly JsonObject[]> {
  return client.list(`/v1/usage?${query}`);
}

describe('GET /v1/usage', () => {
  it('sums usage by whole days', async () => {
    expect(await admin.read(`/v1/usage?${RANGE}`)).toEqual({
      object: 'list',
      data: [
        {
          object: 'usage-bucket',
          start: START,
          end: START + DAY,
          group: {},
          calls: 4,
          cost: 0.002000014,
          tokens: 340,
          search_units: 3,
          quantities: { input: 340, search_unit: 3 },
          presumed_calls: 1,
          failed_calls: 0,
        },
      ],
      total: 1,
    });
  });

  it.each([
    [
      'hour',
      [
        [0, 3_600, 2],
        [3_600, 7_200, 1],
        [DAY - 3_600, DAY, 1],
      ],
    ],
    ['day', [[0, DAY, 4]]],
    ['month', [[-20 * DAY, 10 * DAY, 4]]],
    ['none', [[0, DAY, 4]]],
  ])('reports usage by %s', async (bucket, periods) => {
    const data = await report(`${RANGE}&bucket=${bucket}`);
    expect(data.map(({ start, end, calls }) => [Number(start) - START, Number(end) - START, calls])).toEqual(periods);
  });

  it.each([
    [
      'model',
      [
        ['rerank-2.5', 1],
        ['rerank-v3.5', 3],
      ],
    ],
    [
      'api_key',
      [
        ['key-1', 3],
        ['key-2', 1],
      ],
    ],
    [
      'provider',
      [
        ['cohere', 3],
        ['voyage', 1],
      ],
    ],
    ['virtual_key', [['cohere', 4]]],
    ['endpoint', [['rerank', 4]]],
    ['mcp_server', [[null, 4]]],
    [
      'metadata.team',
      [
        ['ads', 1],
        ['search', 1],
        [null, 2],
      ],
    ],
    ['metadata.__proto__', [[null, 4]]],
    [`metadata.x'); DROP TABLE usage_events; --`, [[null, 4]]],
  ])('groups usage by %s', async (key, groups) => {
    const data = await report(`${RANGE}&group_by=${encodeURIComponent(key)}`);
    expect(data.map(({ group, calls }) => [Object.values(Object(group))[0], calls])).toEqual(groups);
  });

  it('groups usage by several keys at once', async () => {
    const data = await report(`${RANGE}&bucket=none&group_by=workspace_id,metadata.team`);
    expect(data.map(({ group }) => group)).toEqual([
      { workspace_id: workspaceId, 'metadata.team': 'ads' },
      { workspace_id: null, 'metadata.team': 'search' },
      { workspace_id: null, 'metadata.team': null },
    ]);
  });

  it.each([
    ['api_key=key-2', 1],
    ['model=rerank-2.5&provider=voyage', 1],
    ['model=rerank-2.5&provider=cohere', 0],
    ['model=Rerank-2.5&provider=Voyage&endpoint=Rerank', 1],
    ['provider=Cohere&virtual_key=Production', 0],
    ['workspace_id=team', 1],
    [`metadata=${encodeURIComponent('{"team":"search","user":"alice"}')}`, 1],
    [`metadata=${encodeURIComponent('{"team":"search","user":"bob"}')}`, 0],
    [`metadata=${encodeURIComponent('{"__proto__":"x"}')}`, 0],
  ])('filters usage by %s', async (filter, calls) => {
    const [period] = await report(`${RANGE}&bucket=none&${filter}`);
    expect(period?.['calls'] ?? 0).toBe(calls);
  });

  it('filters usage by a model in any spelling, with or without its provider', async () => {
    const id = 'cohere.rerank-v3-5:0';
    const arn = `arn:aws:bedrock:us-east-1:123456789012:foundation-model/${id}`;
    await write({ at: 410 * DAY, provider: 'bedrock', model: id });
    await write({ at: 410 * DAY, provider: 'azure-ai', model: 'our-reranker' });
    await write({ at: 410 * DAY, provider: 'voyage', model: 'our-reranker' });
    await write({ at: 410 * DAY, provider: 'local', model: 'bm25' });
    const range = `from=${START + 410 * DAY}&to=${START + 411 * DAY}&bucket=none`;
    const callsOf = async (filter: string): Promise<unknown> => (await report(`${range}&${filter}`))[0]?.['calls'] ?? 0;
    expect(await callsOf(`model=${arn}`)).toBe(1);
    expect(await callsOf(`model=${id}`)).toBe(1);
    expect(await callsOf(`model=${arn}&provider=bedrock`)).toBe(1);
    expect(await callsOf(`model=${arn}&provider=cohere`)).toBe(0);
    expect(await callsOf('model=cohere.Our-Reranker')).toBe(1);
    expect(await callsOf('model=cohere.Our-Reranker&provider=voyage')).toBe(0);
    expect(await callsOf('model=our-reranker')).toBe(2);
    expect(await callsOf('model=our-reranker&group_by=provider&provider=azure-ai')).toBe(1);
    expect(await callsOf(`model=${arn}&virtual_key=another`)).toBe(0);
    expect(await callsOf('model=anything')).toBe(0);
  });

  it('filters usage by a name that the ledger has truncated', async () => {
    const long = 'n'.repeat(300);
    const cut = long.slice(0, 255);
    await write({ at: 420 * DAY, model: cut, mcpTool: cut });
    const range = `from=${START + 420 * DAY}&to=${START + 421 * DAY}&bucket=none`;
    for (const filter of [`model=${long}`, `model=${long}&provider=cohere`, `mcp_tool=${long}`, `model=${cut}`]) {
      expect(await report(`${range}&${filter}`)).toMatchObject([{ calls: 1 }]);
    }
    expect(await report(`${range}&mcp_tool=${'n'.repeat(254)}`)).toEqual([]);
  });

  it('filters usage by an API key whose id is in capitals', async () => {
    const apiKeyId = randomUUID();
    await write({ at: 400 * DAY, apiKeyId });
    const range = `from=${START + 400 * DAY}&to=${START + 401 * DAY}&bucket=none`;
    expect(await report(`${range}&api_key=${apiKeyId.toUpperCase()}`)).toMatchObject([{ calls: 1 }]);
  });

  it.each([
    ['hour', 31],
    ['day', 366],
  ])('reports usage by %s for %d days, and refuses a second more', async (bucket, days) => {
    const to = START + days * DAY;
    expect((await admin.get(`/v1/usage?from=${START}&to=${to}&bucket=${bucket}`)).status).toBe(200);
    const refused = await admin.get(`/v1/usage?from=${START - 1}&to=${to}&bucket=${bucket}`);
    expect([refused.status, ...brokenRulesOf(refused)]).toEqual([400, 'from']);
  });

  it('pages through usage and returns the total', async () => {
    const pages = `${RANGE}&bucket=hour&page_size=2`;
    expect(await admin.read(`/v1/usage?${pages}`)).toMatchObject({ data: [{ calls: 2 }, { calls: 1 }], total: 3 });
    expect(await admin.read(`/v1/usage?${pages}&current_page=1`)).toMatchObject({ data: [{ calls: 1 }], total: 3 });
    expect(await admin.read(`/v1/usage?${pages}&current_page=7`)).toMatchObject({ data: [], total: 3 });
  });

  it('sorts usage by what it cost, by tokens, calls and time, over all pages', async () => {
    const starts = async (sort: string, more = ''): Promise<unknown> =>
      (await report(`${RANGE}&bucket=hour&sort=${sort}${more}`)).map(({ cost, calls, start }) => [cost, calls, start]);
    const [first, second, last] = [
      [0.002000001, 2, START],
      [0.000000003, 1, START + 3_600],
      [0.00000001, 1, START + DAY - 3_600],
    ];
    expect(await starts('start')).toEqual([first, second, last]);
    expect(await starts('-start')).toEqual([last, second, first]);
    expect(await starts('-cost')).toEqual([first, last, second]);
    expect(await starts('cost')).toEqual([second, last, first]);
    expect(await starts('tokens')).toEqual([second, last, first]);
    // Equal ones are in the order of time.
    expect(await starts('calls')).toEqual([second, last, first]);
    expect(await starts('-calls')).toEqual([first, second, last]);
    expect(await starts('-cost', '&page_size=1&current_page=1')).toEqual([last]);
    const dearest = await report(`${RANGE}&bucket=none&group_by=model&sort=-cost&page_size=1`);
    expect(dearest).toMatchObject([{ group: { model: 'rerank-v3.5' } }]);
    const refused = await admin.get(`/v1/usage?${RANGE}&sort=price`);
    expect([refused.status, ...brokenRulesOf(refused)]).toEqual([400, 'sort']);
  });

  it('answers several reports at once', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => admin.get(`/v1/usage?${RANGE}`)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  it('reports the last thirty days by default', async () => {
    const now = gateway.clock.now().getTime() / 1_000 - START;
    await write({ at: Math.floor(now) - 29 * DAY, apiKeyId: 'recent' });
    await write({ at: Math.floor(now) - 31 * DAY, apiKeyId: 'recent' });
    expect(await report('bucket=none&api_key=recent')).toEqual([expect.objectContaining({ calls: 1 })]);
  });

  it('keeps sums exact beyond the precision of a float', async () => {
    const costs = ['9007199254740993', '5'];
    for (const costNano of costs) await write({ at: 60 * DAY, costNano, apiKeyId: 'rich' });
    const [period] = await report(`from=${START}&to=${START + 90 * DAY}&bucket=none&api_key=rich`);
    expect(String(period?.['cost'])).toBe('9007199.254740998');
  });

  it('shows a workspace only its own usage, and another organisation none', async () => {
    expect(await report(RANGE, member)).toEqual([expect.objectContaining({ calls: 1, presumed_calls: 1 })]);
    expect(refusalOf(await member.get(`/v1/usage?${RANGE}&workspace_id=default`))).toMatchObject({ status: 404 });
    const other = await addTenant(gateway, 'other');
    expect(await report(RANGE, other.client)).toEqual([]);
    const foreign = await other.client.get(`/v1/usage?${RANGE}&workspace_id=${workspaceId}`);
    expect(refusalOf(foreign)).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('reports the usage of a deleted workspace under its id', async () => {
    const id = await admin.createWorkspace('Short-lived');
    await write({ at: 100 * DAY, workspaceId: id });
    await admin.delete(`/v1/workspaces/${id}`);
    const range = `from=${START + 100 * DAY}&to=${START + 101 * DAY}`;
    expect(await report(`${range}&group_by=workspace_id`)).toMatchObject([{ group: { workspace_id: id }, calls: 1 }]);
    const filtered = await admin.get(`/v1/usage?${range}&workspace_id=${id}`);
    expect(refusalOf(filtered)).toMatchObject({ status: 404, code: 'not_found' });
  });

  it.each([
    ['from', 'from=-1'],
    ['from', 'from=1.5'],
    ['to', 'to=soon'],
    ['to', 'to='],
    ['from', 'from=%20'],
    ['from', `from=${START}&to=${START}`],
    ['from', `from=${START}&to=${START + 32 * DAY}&bucket=hour`],
    ['from', `from=${START}&to=${START + 367 * DAY}`],
    ['bucket', 'bucket=week'],
    ['group_by', 'group_by=prompt'],
    ['group_by', 'group_by='],
    ['group_by', 'group_by=metadata.'],
    ['group_by', 'group_by=model,model'],
    ['group_by', 'group_by=model,provider,endpoint,api_key,virtual_key,mcp_tool'],
    ['group_by', 'group_by=toString'],
    ['metadata', 'metadata=team'],
    ['metadata', 'metadata=[]'],
    ['metadata', 'metadata={"a":1}'],
    ['model', 'model=%00'],
    ['page_size', 'page_size=101'],
    ['unheard_of', 'unheard_of=1'],
  ])('refuses a usage report with a wrong %s: %s', async (param, query) => {
    const answer = await admin.get(`/v1/usage?${query}`);
    expect(answer.status).toBe(400);
    expect(jsonOf(answer)['error']).toMatchObject({ code: 'validation_failed' });
    expect(brokenRulesOf(answer)).toContain(param);
  });
});
