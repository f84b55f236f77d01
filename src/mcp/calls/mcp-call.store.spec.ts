import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TollgateDataSource } from '../../database/tollgate-data-source.js';
import { openDataSource } from '../../usage/__fixtures__/postgres-harness.js';
import { McpCall } from './mcp-call.entity.js';
import { type McpCallRow, McpCallStore } from './mcp-call.store.js';

let dataSource: TollgateDataSource;
let store: McpCallStore;

beforeAll(async () => {
  dataSource = await openDataSource();
  store = new McpCallStore(dataSource.getRepository(McpCall));
});
beforeEach(() => dataSource.query('DELETE FROM mcp_calls'));
afterAll(() => dataSource.destroy());

const FIRST: McpCallRow = {
  id: randomUUID(),
  organisationId: randomUUID(),
  workspaceId: randomUUID(),
  serverId: randomUUID(),
  serverSlug: 'server',
  callerType: 'api_key',
  callerId: 'key',
  userId: 'alice',
  httpMethod: 'POST',
  rpcMethod: 'tools/call',
  tool: 'search',
  status: 200,
  errorCode: null,
  firstByteMs: 1,
  totalMs: 2,
  bytesIn: '3',
  bytesOut: '9007199254740993',
  traceId: 'trace',
  createdAt: new Date('2026-11-24T10:00:00.001Z'),
};

/** In the order in which they were given. */
async function written(rows: readonly McpCallRow[]): Promise<readonly McpCallRow[]> {
  await store.insert(rows);
  const found: readonly McpCallRow[] = await dataSource.getRepository(McpCall).find();
  return rows.flatMap(({ id }) => found.filter((row) => row.id === id).map((row) => ({ ...row })));
}

describe('rows of calls', () => {
  it.each<readonly [string, Partial<McpCallRow>]>([
    ['nothing', {}],
    ['the organisation', { organisationId: randomUUID() }],
    ['the workspace', { workspaceId: null }],
    ['the server', { serverId: randomUUID() }],
    ["the server's name", { serverSlug: 'renamed' }],
    ['the kind of caller', { callerType: 'oauth' }],
    ['the caller', { callerId: 'other' }],
    ['the user', { userId: null }],
    ['the HTTP method', { httpMethod: 'GET' }],
    ['the method', { rpcMethod: null }],
    ['the tool', { tool: 'other' }],
    ['the status', { status: 499 }],
    ['the error', { errorCode: 'mcp_server_failed' }],
    ['the times', { firstByteMs: null, totalMs: 77, createdAt: new Date('2026-11-24T10:00:00.002Z') }],
    ['the sizes', { bytesIn: '77', bytesOut: '0' }],
    ['the trace', { traceId: null }],
  ])('that differ in %s are each what they were', async (_what, change) => {
    const rows = [FIRST, { ...FIRST, id: randomUUID(), ...change }, { ...FIRST, id: randomUUID() }];
    expect(await written(rows)).toEqual(rows);
  });

  it('may come twice', async () => {
    await store.insert([FIRST]);
    const second = { ...FIRST, id: randomUUID() };
    expect(await written([{ ...FIRST, status: 500 }, second])).toEqual([FIRST, second]);
  });

  it('hold what clients say as far as a column can, and cut no character in two', async () => {
    const [row] = await written([
      {
        ...FIRST,
        tool: `a\u0000b\ud800${'x'.repeat(300)}`,
        rpcMethod: 'm'.repeat(200),
        userId: `${'x'.repeat(254)}\u{1F600}\u{1F600}`,
        traceId: 't'.repeat(200),
      },
    ]);
    expect(row?.tool?.startsWith('a\uFFFDb\uFFFDx')).toBe(true);
    expect(row?.userId).toBe(`${'x'.repeat(254)}\u{1F600}`);
    expect([row?.tool, row?.rpcMethod, row?.traceId].map((text) => text?.length)).toEqual([255, 128, 128]);
  });
});
