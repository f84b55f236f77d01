// Search and order in lists of what is only ever added: prices, the audit log, calls of MCP servers; and of organisations.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { McpCallRecorder } from '../src/mcp/calls/mcp-call.recorder.js';
import { SCOPES } from '../src/access/scopes.js';
import { type JsonObject, readString } from '../src/common/json/read.js';
import { RequestLogRecorder } from '../src/request-logs/request-log.recorder.js';
import { forEvery, pairs } from './support/for-every.js';
import { GatewayClient } from './support/gateway-client.js';
import { type IdentityProvider, startIdentityProvider } from './support/identity-provider.js';
import { json, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { refusalOf, send } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const PRICE = { provider: 'cohere', unit: 'search_unit', price: '0.001' };
const SERVER = '/v1/mcp-servers/listed';

let provider: IdentityProvider;
let gateway: TestApp;
let raw: RawMcpServer;
let admin: GatewayClient;
let adminOfTwo: GatewayClient;

/** A list, whose caller has made two entries of which each has the word in its name. */
interface Seeded {
  readonly path: string;
  readonly client: () => GatewayClient;
  /** The field that has the word. */
  readonly field: string;
  /** Both, from the first to the last. */
  readonly names: readonly [string, string];
}

const LISTS = [
  { path: '/v1/prices?', client: () => admin, field: 'model', names: ['b_Wanted-1', 'a_wanted-2'] },
  {
    path: '/v1/audit-logs?resource_type=workspace',
    client: () => admin,
    field: 'resource_name',
    names: ['b_Wanted', 'a_wanted'],
  },
  { path: `${SERVER}/calls?`, client: () => admin, field: 'tool', names: ['b_Wanted', 'a_wanted'] },
  { path: '/v1/organisations?', client: () => adminOfTwo, field: 'slug', names: ['b_wanted', 'a_wanted'] },
] as const satisfies readonly Seeded[];
const ALL = LISTS.map((list) => [list.path, list] as const);

beforeAll(async () => {
  provider = await startIdentityProvider();
  [gateway, raw] = await Promise.all([startTestApp(provider.settings), startRawMcpServer()]);
  raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }));
  admin = new GatewayClient(gateway.url);
  const organisationId: string[] = [];
  for (const name of ['b_wanted', 'a_wanted', 'unlisted']) {
    organisationId.push((await addTenant(gateway, name)).organisationId);
    gateway.clock.advance(1_000);
  }
  const token = await provider.tokenFor({ clientId: 'console', scopes: SCOPES, organisationId });
  adminOfTwo = new GatewayClient(gateway.url, {}).withToken(token);
  await admin.create('/v1/mcp-servers', { name: 'Listed', slug: 'listed', url: raw.endpoint.href });
  for (const number of [0, 1]) {
    await admin.create('/v1/prices', { ...PRICE, model: LISTS[0].names[number] });
    await admin.create('/v1/workspaces', { name: LISTS[1].names[number] });
    await callTool(LISTS[2].names[number] ?? '');
    gateway.clock.advance(1_000);
  }
  await admin.create('/v1/prices', { ...PRICE, model: 'another' });
  await callTool('another');
  await gateway.app.get(McpCallRecorder, { strict: false }).flush();
  await gateway.app.get(RequestLogRecorder, { strict: false }).flush();
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([provider.close(), raw.close()]);
});

async function callTool(name: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name } });
  const headers = { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json' };
  expect((await send(`${gateway.url}/listed/mcp`, { method: 'POST', headers, body })).status).toBe(200);
}

async function found({ path, client, field }: Seeded, query: string): Promise<readonly unknown[]> {
  return (await client().list(`${path}&${query}`)).map((item: JsonObject) => item[field]);
}

describe('lists of prices, changes, calls and organisations', () => {
  it('find a part of a name in any case, newest first', () =>
    forEvery(ALL, async (list) => {
      const [first, last] = list.names;
      expect(await found(list, 'search=WANTED')).toEqual([last, first]);
      expect(await found(list, 'search=_wanted&sort=-created_at')).toEqual([last, first]);
      expect(await found(list, `search=${first.slice(0, 3)}`)).toEqual([first]);
      expect(await found(list, 'search=want_d')).toEqual([]);
    }));

  it('find what was done, the MCP server that was called, and the method', () =>
    forEvery(
      [
        ['/v1/audit-logs?search=WORKSPACES.create', 'action', 'workspaces.create'],
        ['/v1/logs?search=LISTED', 'mcp_server', 'listed'],
        ['/v1/logs?search=Tools/', 'mcp_method', 'tools/call'],
      ].map((row) => [row[0] ?? '', row] as const),
      async ([path = '', field = '', value]) => {
        const values = new Set((await admin.list(path)).map((item) => item[field]));
        expect(values).toEqual(new Set([value]));
      },
    ));

  it('find nothing when a search and a filter of the same field contradict each other', () =>
    forEvery(
      [
        '/v1/prices?model=another',
        '/v1/audit-logs?action=workspaces.create',
        '/v1/logs?mcp_server=listed',
        `${SERVER}/calls?tool=another`,
      ].map((path) => [path, path] as const),
      async (path) => {
        expect((await admin.list(path)).length).toBeGreaterThan(0);
        expect(await admin.list(`${path}&search=no-such-text`)).toEqual([]);
      },
    ));

  it('find the trace of a change or a call', () =>
    forEvery(
      ['/v1/audit-logs', `${SERVER}/calls`, '/v1/logs'].map((path) => [path, path] as const),
      async (path) => {
        const [newest] = await admin.list(`${path}?page_size=1`);
        const trace = readString(newest?.['trace_id'], 'trace_id');
        const traced = await admin.list(`${path}?search=${trace}`);
        expect(new Set(traced.map((item) => item['trace_id']))).toEqual(new Set([trace]));
      },
    ));

  it('are sorted in either direction, page by page', () =>
    forEvery(ALL, async (list) => {
      const [first, last] = list.names;
      expect(await found(list, 'search=wanted&sort=created_at')).toEqual([first, last]);
      expect(await found(list, 'search=wanted&sort=created_at&page_size=1')).toEqual([first]);
      expect(await found(list, 'search=wanted&sort=created_at&page_size=1&current_page=1')).toEqual([last]);
      const { total } = await list.client().read(`${list.path}&search=wanted&page_size=1`);
      expect(total).toBe(2);
    }));

  it('refuse orders and texts that they do not have', () =>
    forEvery(pairs(ALL, ['sort=surprise', 'sort=updated_at', 'search=', 'page_size=0']), async ([list, query]) => {
      const refusal = refusalOf(await list.client().get(`${list.path}&${query}`));
      expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', param: query.split('=')[0] });
    }));

  it('sort prices within each part of the list', async () => {
    const [first, last] = LISTS[0].names;
    expect(await found(LISTS[0], 'search=wanted&sort=model')).toEqual([last, first]);
    expect(await found(LISTS[0], 'search=wanted&sort=-model')).toEqual([first, last]);
    const models = await found(LISTS[0], 'sort=model&page_size=100');
    expect(models.slice(0, 3)).toEqual([last, 'another', first]);
    const builtIn = models.slice(3).map(String);
    expect(builtIn.length).toBeGreaterThan(10);
    expect(builtIn).toEqual([...builtIn].sort());
    const upwards = (await found(LISTS[0], 'sort=-model&search=voyage')).map(String);
    expect(upwards.length).toBeGreaterThan(2);
    expect(upwards).toEqual([...upwards].sort().reverse());
  });

  it('find changes by their actor, also for an export', async () => {
    const { id, client } = await admin.createKey({ name: 'Release robot', scopes: SCOPES });
    await client.create('/v1/workspaces', { name: 'Made by it' });
    expect(await admin.list('/v1/audit-logs?search=ROBOT&action=workspaces.create')).toMatchObject([{ actor_id: id }]);
    const { text } = await admin.get('/v1/audit-logs/export?search=robot&action=workspaces.create');
    expect(text.trim().split('\n')).toHaveLength(1);
    expect((await admin.get('/v1/audit-logs/export?sort=created_at')).status).toBe(400);
  });

  it('never find what another organisation has', async () => {
    const { client } = await addTenant(gateway, 'elsewhere');
    for (const path of ['/v1/prices', '/v1/audit-logs', '/v1/organisations']) {
      expect([path, await client.list(`${path}?search=wanted`)]).toEqual([path, []]);
    }
    expect(await adminOfTwo.list('/v1/organisations?sort=-slug')).toMatchObject([
      { slug: 'unlisted' },
      { slug: 'b_wanted' },
      { slug: 'a_wanted' },
    ]);
  });
});
