// How the last call of each MCP server ended, where servers are read.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readString } from '../src/common/json/read.js';
import { MCP_CALL } from '../src/mcp/calls/__fixtures__/mcp-call.js';
import { type McpCallRow, McpCallStore } from '../src/mcp/calls/mcp-call.store.js';
import { GatewayClient } from './support/gateway-client.js';
import { jsonOf, refusalOf } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const AT = Date.UTC(2026, 10, 24);
const FAILED = { status: 502, outcome: 'gateway_error', errorCode: 'provider_failed' } as const;

let gateway: TestApp;
let admin: GatewayClient;
let organisationId: string;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  organisationId = readString((await admin.read('/v1/workspaces/default'))['organisation_id'], 'organisation_id');
});
afterAll(() => gateway.close());

async function make(name: string, fields: object = {}): Promise<{ readonly id: string; readonly path: string }> {
  const created = await admin.create('/v1/mcp-servers', { name, url: 'https://mcp.example.com/mcp', ...fields });
  const id = readString(created['id'], 'id');
  return { id, path: `/v1/mcp-servers/${id}` };
}

/** @param second after AT */
async function call(serverId: string, second: number, fields: Partial<McpCallRow> = {}): Promise<void> {
  const store = gateway.app.get(McpCallStore, { strict: false });
  const row = { ...MCP_CALL, organisationId, workspaceId: null, serverId, id: randomUUID() };
  await store.insert([store.prepare({ ...row, createdAt: new Date(AT + second * 1_000), ...fields })]);
}

const ended = (second: number, fields: object = {}): object => ({
  at: AT / 1_000 + second,
  status: 200,
  outcome: 'ok',
  error_code: null,
  ...fields,
});

describe('the last call of an MCP server', () => {
  it('is shown of each server of a list, of one server, and in CSV', async () => {
    const [failing, working, fresh] = [await make('Failing'), await make('Working'), await make('Fresh')];
    await call(failing.id, 1);
    await call(failing.id, 3, FAILED);
    await call(failing.id, 2);
    await call(working.id, 1, FAILED);
    await call(working.id, 2);
    const expected = {
      [failing.id]: ended(3, { status: 502, outcome: 'gateway_error', error_code: 'provider_failed' }),
      [working.id]: ended(2),
      [fresh.id]: null,
    };
    const listed = await admin.list('/v1/mcp-servers');
    expect(Object.fromEntries(listed.map((each) => [each['id'], each['last_call']]))).toEqual(expected);
    for (const { id, path } of [failing, working, fresh]) {
      expect(await admin.read(path)).toMatchObject({ last_call: expected[id] });
    }
    const { text } = await admin.get('/v1/mcp-servers?search=Failing', { accept: 'text/csv' });
    expect(text).toContain('""error_code"":""provider_failed""');
  });

  it('is ignored in an update, and in no audit entry', async () => {
    const { id, path } = await make('Written back');
    await call(id, 1);
    const read = await admin.read(path);
    const answer = await admin.put(path, { ...read, description: 'new', last_call: ended(9, { status: 500 }) });
    expect(jsonOf(answer)).toMatchObject({ description: 'new', last_call: ended(1) });
    expect(jsonOf(await admin.patch(path, { last_call: null }))).toMatchObject({ last_call: ended(1) });
    expect(JSON.stringify(await admin.list(`/v1/audit-logs?resource=${id}`))).not.toContain('last_call');
  });

  it('is hidden from a caller who may not list calls', async () => {
    const { id, path } = await make('Hidden');
    await call(id, 1);
    const { client: lister } = await admin.createKey({ scopes: ['mcp_servers.list', 'mcp_servers.update'] });
    expect(refusalOf(await lister.get(`${path}/calls`))).toMatchObject({ status: 403 });
    const listed = await lister.list('/v1/mcp-servers?search=Hidden');
    expect(listed).toMatchObject([{ id, last_call: null }]);
    expect(jsonOf(await lister.patch(path, { description: 'x' }))).toMatchObject({ last_call: null });
  });

  it('is that of the own workspace for a caller of one, and of no other organisation', async () => {
    const workspaceId = await admin.createWorkspace('One of two');
    const { id, path } = await make('Of one', { workspace_id: workspaceId });
    const other = await addTenant(gateway, 'last-calls');
    const place = { level: 'workspace', workspace_id: workspaceId, scopes: ['mcp_servers.read', 'mcp_servers.list'] };
    const { client: member } = await admin.createKey(place);
    await call(id, 1);
    await call(id, 9, { organisationId: other.organisationId });
    expect(await member.read(path)).toMatchObject({ last_call: null });
    await call(id, 2, { workspaceId });
    await call(id, 3, FAILED);
    expect(await member.read(path)).toMatchObject({ last_call: ended(2) });
    expect(await member.list('/v1/mcp-servers?search=Of%20one')).toMatchObject([{ last_call: ended(2) }]);
    expect(await admin.read(path)).toMatchObject({ last_call: { at: AT / 1_000 + 3, status: 502 } });
    expect(refusalOf(await other.client.get(path))).toMatchObject({ status: 404, code: 'not_found' });
    expect(await other.client.list('/v1/mcp-servers')).toEqual([]);
  });
});
