import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TollgateDataSource } from '../../database/tollgate-data-source.js';
import { openDataSource } from '../../usage/__fixtures__/postgres-harness.js';
import { MCP_CALL } from './__fixtures__/mcp-call.js';
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

/** In the order in which they were given. */
async function written(rows: readonly McpCallRow[]): Promise<readonly McpCallRow[]> {
  await store.insert(rows.map((row) => store.prepare(row)));
  const found: readonly McpCallRow[] = await dataSource.getRepository(McpCall).find();
  return rows.flatMap(({ id }) => found.filter((row) => row.id === id).map((row) => ({ ...row })));
}

describe('McpCallStore', () => {
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
    ['the outcome', { outcome: 'rpc_error', rpcErrorCode: -32_602 }],
    ['the times', { firstByteMs: null, totalMs: 77, createdAt: new Date('2026-11-24T10:00:00.002Z') }],
    ['the sizes', { bytesIn: '77', bytesOut: '0' }],
    ['the trace', { traceId: null }],
  ])('stores two rows that differ in %s as they are', async (_what, change) => {
    const rows = [MCP_CALL, { ...MCP_CALL, id: randomUUID(), ...change }, { ...MCP_CALL, id: randomUUID() }];
    expect(await written(rows)).toEqual(rows);
  });

  it('accepts a row that is sent twice', async () => {
    await store.insert([store.prepare(MCP_CALL)]);
    const second = { ...MCP_CALL, id: randomUUID() };
    expect(await written([{ ...MCP_CALL, status: 500 }, second])).toEqual([MCP_CALL, second]);
  });

  it('cuts values of clients to the column without splitting a character', async () => {
    const [row] = await written([
      {
        ...MCP_CALL,
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
