// Pages of logs after an entry: of calls of any kind, of changes and of calls of MCP servers.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type JsonObject, readArray, readObject, readString } from '../src/common/json/read.js';
import { McpCallRecorder } from '../src/mcp/calls/mcp-call.recorder.js';
import { RequestLogRecorder } from '../src/request-logs/request-log.recorder.js';
import { forEvery, pairs } from './support/for-every.js';
import { GatewayClient } from './support/gateway-client.js';
import { json, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { refusalOf, send } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const PATHS = ['/v1/logs?', '/v1/audit-logs?resource_type=workspace', '/v1/mcp-servers/paged/calls?'];
const ALL = PATHS.map((path) => [path, path] as const);

let gateway: TestApp;
let raw: RawMcpServer;
let admin: GatewayClient;

beforeAll(async () => {
  [gateway, raw] = await Promise.all([startTestApp(), startRawMcpServer()]);
  raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }));
  admin = new GatewayClient(gateway.url);
  await admin.create('/v1/mcp-servers', { name: 'Paged', slug: 'paged', url: raw.endpoint.href });
  // Some entries have the same time: their ids decide.
  for (const count of [3, 2]) {
    for (let number = 0; number < count; number += 1) await addEntries();
    gateway.clock.advance(1_000);
  }
  await flush();
});
afterAll(async () => {
  await gateway.close();
  await raw.close();
});

/** One in each log. */
async function addEntries(): Promise<void> {
  await admin.create('/v1/workspaces', { name: randomUUID() });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'a-tool' } });
  const headers = { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json' };
  expect((await send(`${gateway.url}/paged/mcp`, { method: 'POST', headers, body })).status).toBe(200);
}

async function flush(): Promise<void> {
  await gateway.app.get(McpCallRecorder, { strict: false }).flush();
  await gateway.app.get(RequestLogRecorder, { strict: false }).flush();
}

const idsOf = ({ data }: JsonObject): readonly string[] =>
  readArray(data, 'data').map((item) => readString(readObject(item, 'item')['id'], 'id'));

/** The ids of all pages, and what happens between them. */
async function walk(path: string, query: string, between: () => Promise<void>): Promise<readonly string[]> {
  const first = await admin.read(`${path}&${query}`);
  const found = [...idsOf(first)];
  let hasMore = first['has_more'];
  while (hasMore === true) {
    await between();
    const page = await admin.read(`${path}&${query}&after=${found.at(-1)}`);
    expect(page['total']).toBeNull();
    found.push(...idsOf(page));
    hasMore = page['has_more'];
  }
  return found;
}

describe('a page after an entry of a log', () => {
  it('has each entry once in either direction, whatever is added meanwhile', () =>
    forEvery(pairs(ALL, ['-created_at', 'created_at']), async ([path, sort]) => {
      const before = idsOf(await admin.read(`${path}&sort=${sort}&page_size=100`));
      expect(before.length).toBeGreaterThanOrEqual(5);
      const add = async (): Promise<void> => {
        if (sort === 'created_at') return;
        gateway.clock.advance(1_000);
        await addEntries();
        await flush();
      };
      expect(await walk(path, `sort=${sort}&page_size=2`, add)).toEqual(before);
    }));

  it('can come with its total, and the first one without', () =>
    forEvery(ALL, async (path) => {
      const { total, has_more } = await admin.read(`${path}&page_size=1`);
      expect([typeof total, has_more]).toEqual(['number', true]);
      const uncounted = await admin.read(`${path}&page_size=1&include_total=false`);
      expect([uncounted['total'], uncounted['has_more']]).toEqual([null, true]);
      const [first] = idsOf(uncounted);
      const counted = await admin.read(`${path}&page_size=1&include_total=true&after=${first}`);
      expect(counted['total']).toBe(total);
      expect(await admin.read(`${path}&page_size=100`)).toMatchObject({ has_more: false });
    }));

  it('is refused where the entry is not one of the list, or a number of a page comes with it', () =>
    forEvery(ALL, async (path) => {
      const { client } = await addTenant(gateway, `of-${randomUUID()}`);
      await client.create('/v1/workspaces', { name: 'Theirs' });
      const [foreign] = idsOf(await client.read('/v1/audit-logs?resource_type=workspace&page_size=1'));
      const [own] = idsOf(await admin.read(`${path}&page_size=1`));
      const wrong = [
        [`after=${randomUUID()}`, 'after'],
        [`after=${foreign}`, 'after'],
        ['after=last', 'after'],
        [`after=${own}&current_page=1`, 'current_page'],
        ['include_total=maybe', 'include_total'],
      ] as const;
      for (const [query, param] of wrong) {
        const refusal = refusalOf(await admin.get(`${path}&${query}`));
        expect([query, refusal]).toMatchObject([query, { status: 400, code: 'validation_failed', param }]);
      }
    }));
});
