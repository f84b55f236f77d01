// How policies and reports treat tool calls.
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { readString } from '../src/common/json/read.js';
import { eventually } from './support/eventually.js';
import { json, plain } from './support/mcp-raw-server.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { addTenant } from './support/tenants.js';

const PATH = '/v1/policies/usage-limits';
const KEYS = [{ key: 'mcp_server' }, { key: 'mcp_tool' }];

const mcp = rawMcpGateway();

function callOf(name: string, id: number | undefined = 1): object {
  return { jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method: 'tools/call', params: { name } };
}

describe('a policy for tool calls', () => {
  const ANY_TOOL = { key: 'mcp_tool', value: '*', excludes: 'read_*' };
  const VALID = { type: 'cost', credit_limit: 1, conditions: [ANY_TOOL], group_by: KEYS };

  it('accepts conditions and groups on MCP servers and tools', async () => {
    const conditions = [
      { key: 'mcp_server', value: '*', excludes: ['files', 'tickets'] },
      { key: 'mcp_tool', value: '*', excludes: ['delete_*', 'search'] },
    ];
    const id = readString((await mcp.admin.create(PATH, { ...VALID, conditions }))['id'], 'id');
    expect(await mcp.admin.read(`${PATH}/${id}`)).toMatchObject({ conditions, group_by: KEYS });
    await mcp.admin.delete(`${PATH}/${id}`);
  });

  it.each([
    ['conditions.0.key', { conditions: [{ key: 'mcp_tools', value: 'x' }] }],
    ['conditions.0.key', { conditions: [{ key: 'mcp_server ', value: 'x' }] }],
    ['conditions.0.value', { conditions: [{ key: 'mcp_tool', value: '' }] }],
    // No limit stops calls of tools, so that this one would never apply.
    ['conditions.0.value', { conditions: [{ key: 'mcp_server', value: 'files' }] }],
    ['group_by.0.key', { group_by: [{ key: 'mcp-tool' }] }],
  ])('refuses a policy by its %s when its fields are %j', async (param, fields) => {
    const answer = await mcp.admin.post(PATH, { ...VALID, ...fields });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(brokenRulesOf(answer)).toContain(param);
  });

  it.each([
    [{ mcp_server: 'files', mcp_tool: 'delete_file' }, 1],
    [{ mcp_server: 'files', mcp_tool: 'read_file' }, 0],
    [{ mcp_server: 'read_file' }, 1],
    [{}, 1],
  ])('simulates a policy for a call of %j', async (fields, hits) => {
    const id = readString((await mcp.admin.create(PATH, VALID))['id'], 'id');
    const { policies } = jsonOf(await mcp.admin.post(`${PATH}/simulate`, fields));
    expect(policies).toHaveLength(hits);
    await mcp.admin.delete(`${PATH}/${id}`);
  });

  it('does not refuse calls that cost nothing', async () => {
    const slug = await mcp.register();
    const id = readString((await mcp.admin.create(PATH, { ...VALID, credit_limit: 0 }))['id'], 'id');
    const simulated = await mcp.admin.post(`${PATH}/simulate`, { mcp_server: slug, mcp_tool: 'delete_file' });
    expect(jsonOf(simulated)).toMatchObject({ policies: [{ policy_id: id }] });
    for (let each = 0; each < 3; each += 1) expect(await mcp.post(slug, callOf('delete_file'))).toBe(200);
    await eventually(async () => (await mcp.usageOf(slug))[0]?.['calls'] === 3);
    expect(await mcp.admin.list(`${PATH}/${id}/entities`)).toEqual([]);
    await mcp.admin.delete(`${PATH}/${id}`);
  });
});

describe('the usage report of tool calls', () => {
  it('sums calls by server and tool, and filters by both', async () => {
    const slug = await mcp.register();
    for (const tool of ['search', 'search', 'create']) await mcp.post(slug, callOf(tool));
    await eventually(async () => (await mcp.usageOf(slug)).length === 2);
    const rows = await mcp.usageOf(slug);
    expect(rows).toHaveLength(2);
    for (const [mcp_tool, calls] of [
      ['search', 2],
      ['create', 1],
    ] as const) {
      expect(rows).toContainEqual(
        expect.objectContaining({ group: { mcp_server: slug, mcp_tool }, calls, cost: 0, tokens: 0 }),
      );
    }
    expect(await mcp.usageOf(slug, '&mcp_tool=create')).toHaveLength(1);
    expect(await mcp.usageOf(slug, '&endpoint=mcp')).toHaveLength(2);
    expect(await mcp.usageOf(slug, '&endpoint=rerank')).toEqual([]);
  });

  it('counts every call of a batch, and the failed calls of a tool', async () => {
    const slug = await mcp.register();
    mcp.raw.answerWith(json([{ jsonrpc: '2.0', id: 1, result: { isError: true, content: [] } }]));
    await mcp.post(slug, [
      { jsonrpc: '2.0', id: 9, method: 'ping' },
      callOf('search', 1),
      callOf('search', 2),
      callOf('create', 3),
      callOf('notify', undefined),
    ]);
    expect(await mcp.callsByTool(slug, 4)).toEqual({ search: 2, create: 1, notify: 1 });
  });

  it('counts tools named like object members, and truncates long names', async () => {
    const slug = await mcp.register();
    await mcp.post(slug, [callOf('__proto__', 1), callOf('constructor', 2), callOf('x'.repeat(300), 3)]);
    const names = Object.keys(await mcp.callsByTool(slug, 3));
    expect(new Set(names)).toEqual(new Set(['__proto__', 'constructor', 'x'.repeat(255)]));
  });

  it("reports the metadata that a key enforces instead of the client's values", async () => {
    const slug = await mcp.register();
    const { key } = await mcp.admin.createKey({ scopes: ['mcp.invoke'], metadata: { team: 'ads' } });
    for (const said of ['{"team":"search","project":"x"}', '{}']) {
      await mcp.post(slug, callOf('search'), { 'x-gateway-api-key': key, 'x-gateway-metadata': said });
    }
    await mcp.callsByTool(slug, 2);
    const filter = (metadata: object): string => `&metadata=${encodeURIComponent(JSON.stringify(metadata))}`;
    expect(await mcp.usageOf(slug, filter({ team: 'search' }))).toEqual([]);
    expect(await mcp.usageOf(slug, filter({ team: 'ads' }))).toMatchObject([{ calls: 2 }]);
    expect(await mcp.usageOf(slug, filter({ team: 'ads', project: 'x' }))).toMatchObject([{ calls: 1 }]);
  });

  it("reports the default metadata of the server's workspace for keys of the organisation", async () => {
    const defaults = { metadata: { team: 'default', region: 'eu' } };
    const { id: workspace_id } = await mcp.admin.create('/v1/workspaces', { name: 'Defaults', defaults });
    const slug = await mcp.register({ workspace_id });
    const { key } = await mcp.admin.createKey({ scopes: ['mcp.invoke'], metadata: { team: 'ads' } });
    await mcp.post(slug, callOf('search'), { 'x-gateway-metadata': '{"region":"us"}' });
    await mcp.post(slug, callOf('search'), { 'x-gateway-api-key': key });
    await mcp.callsByTool(slug, 2);
    const filter = (metadata: object): string => `&metadata=${encodeURIComponent(JSON.stringify(metadata))}`;
    expect(await mcp.usageOf(slug, filter({ team: 'default', region: 'us' }))).toMatchObject([{ calls: 1 }]);
    expect(await mcp.usageOf(slug, filter({ team: 'ads', region: 'eu' }))).toMatchObject([{ calls: 1 }]);
  });

  it('leaves out other messages and refused requests', async () => {
    const slug = await mcp.register();
    const path = `/v1/mcp-servers/${slug}`;
    await mcp.admin.put(`${path}/tools`, { tools: [{ name: 'off', enabled: false }] });
    expect(await mcp.post(slug, callOf('off'))).toBe(200);
    expect(await mcp.post(slug, callOf('search'), { 'x-gateway-api-key': 'nobody' })).toBe(401);
    expect(await mcp.post(slug, { jsonrpc: '2.0', id: 1, method: 'tools/list' })).toBe(200);
    expect(await mcp.post(slug, { jsonrpc: '2.0', id: 1, result: { name: 'search' } })).toBe(200);
    mcp.raw.answerWith(plain(500));
    // The server received this call, so that it counts.
    await mcp.post(slug, callOf('last'));
    await eventually(async () => (await mcp.usageOf(slug)).length > 0);
    expect((await mcp.usageOf(slug)).map(({ group }) => group)).toEqual([{ mcp_server: slug, mcp_tool: 'last' }]);
  });

  it('shows other tenants no usage, and requires the scope for reports', async () => {
    const slug = await mcp.register();
    await mcp.post(slug, callOf('search'));
    await eventually(async () => (await mcp.usageOf(slug)).length === 1);
    const other = await addTenant(mcp.gateway, `policies-${randomUUID()}`);
    expect(await mcp.usageOf(slug, '', other.client)).toEqual([]);
    const { client } = await mcp.admin.createKey({ scopes: ['mcp.invoke'] });
    expect((await client.get(`/v1/usage?group_by=mcp_tool&mcp_server=${slug}`)).status).toBe(403);
  });
});
