// A key may be limited to some MCP servers, and to some of their tools.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { EventReader } from './support/event-reader.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { callTool, connectClient, connectLegacyClient } from './support/mcp-client.js';
import { type LegacyMcpServer, startLegacyMcpServer } from './support/mcp-legacy-server.js';
import { type McpSdkServer, startMcpServer } from './support/mcp-servers.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const JSON_HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const PING = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'ping' });
const REVOKED_MS = 10_000;

let gateway: TestApp;
let admin: GatewayClient;
let sdk: McpSdkServer;
let legacy: LegacyMcpServer;

beforeAll(async () => {
  [gateway, sdk, legacy] = await Promise.all([startTestApp(), startMcpServer(), startLegacyMcpServer()]);
  admin = new GatewayClient(gateway.url);
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([sdk.close(), legacy.close()]);
});

interface Registered {
  readonly id: string;
  readonly slug: string;
}

async function register(fields: object = {}): Promise<Registered> {
  const slug = `s-${randomUUID()}`;
  const { id } = await admin.create('/v1/mcp-servers', { name: 'A', slug, url: sdk.endpoint.href, ...fields });
  return { id: String(id), slug };
}

async function keyWith(grants: object): Promise<{ readonly id: string; readonly key: string }> {
  return admin.createKey({ scopes: ['mcp.invoke'], ...grants });
}

function ask(slug: string, key: string, body = PING): Promise<Answer> {
  return send(`${gateway.url}/${slug}/mcp`, { headers: { ...JSON_HEADERS, 'x-gateway-api-key': key }, body });
}

async function namesOf(client: Client): Promise<readonly string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

describe('allowed_mcp_servers of a key', () => {
  it('admits the key to the servers that it names by slug or id', async () => {
    const [one, two, other] = await Promise.all([register(), register(), register()]);
    const { key } = await keyWith({ allowed_mcp_servers: [one.slug, two.id.toUpperCase()] });
    const statuses = await Promise.all([one, two, other].map(async ({ slug }) => (await ask(slug, key)).status));
    // The server of the SDK refuses a message without a session.
    expect(statuses).toEqual([400, 400, 404]);
  });

  it('answers for a server that is not granted as for one that does not exist', async () => {
    const { slug } = await register();
    const { key } = await keyWith({ allowed_mcp_servers: [] });
    const [refused, unknown] = await Promise.all([ask(slug, key), ask(`s-${randomUUID()}`, key)]);
    expect([refused.status, refused.text]).toEqual([404, unknown.text]);
    expect(unknown.status).toBe(404);
  });

  it.each(['sse', 'messages'])('refuses the endpoint /%s of the older transport', async (endpoint) => {
    const { slug } = await register({ url: legacy.endpoint.href, transport: 'sse' });
    const { key } = await keyWith({ allowed_mcp_servers: ['another'] });
    const method = endpoint === 'sse' ? 'GET' : 'POST';
    const headers = { ...JSON_HEADERS, 'x-gateway-api-key': key };
    expect((await send(`${gateway.url}/${slug}/${endpoint}`, { method, headers })).status).toBe(404);
  });

  it('ends an open stream when the key loses its server', async () => {
    const { slug } = await register({ url: legacy.endpoint.href, transport: 'sse' });
    const { id, key } = await keyWith({ allowed_mcp_servers: [slug] });
    const stream = new EventReader(`${gateway.url}/${slug}/sse`, {
      method: 'GET',
      headers: { ...JSON_HEADERS, 'x-gateway-api-key': key },
    });
    await eventually(() => stream.events.length > 0);
    await admin.patch(`/v1/api-keys/${id}`, { allowed_mcp_servers: [] });
    await eventually(() => stream.hasEnded, REVOKED_MS);
  });
});

describe('allowed_mcp_tools of a key', () => {
  it('lists and calls the tools that a pattern names, over Streamable HTTP', async () => {
    const { slug } = await register();
    const { key } = await keyWith({ allowed_mcp_tools: [`${slug}/e*o`, 'another/*', '*/slow'] });
    const { client, close } = await connectClient(`${gateway.url}/${slug}/mcp`, { 'x-gateway-api-key': key });
    expect(await namesOf(client)).toEqual(['echo', 'slow']);
    expect(await callTool(client, 'echo', { text: 'hello' })).toBe('hello');
    await expect(client.callTool({ name: 'error' })).rejects.toThrow('Unknown tool: error');
    await close();
    const denied = expect.objectContaining({ tool: 'error', error_code: 'permission_denied' });
    await eventually(async () => (await admin.list(`/v1/mcp-servers/${slug}/calls`)).length > 4);
    expect(await admin.list(`/v1/mcp-servers/${slug}/calls`)).toContainEqual(denied);
  });

  it('names a server by its id, and leaves keys without patterns alone', async () => {
    const { id, slug } = await register();
    const { key } = await keyWith({ allowed_mcp_tools: [`${id}/error`] });
    const all = await keyWith({ allowed_mcp_tools: null });
    const few = await connectClient(`${gateway.url}/${slug}/mcp`, { 'x-gateway-api-key': key });
    const many = await connectClient(`${gateway.url}/${slug}/mcp`, { 'x-gateway-api-key': all.key });
    expect(await namesOf(few.client)).toEqual(['error']);
    expect((await namesOf(many.client)).length).toBeGreaterThan(3);
    await Promise.all([few.close(), many.close()]);
  });

  it('hides a tool that is disabled, though the key has it', async () => {
    const { slug } = await register();
    await admin.put(`/v1/mcp-servers/${slug}/tools`, { tools: [{ name: 'echo', enabled: false }] });
    const { key } = await keyWith({ allowed_mcp_tools: [`${slug}/echo`, `${slug}/slow`] });
    const { client, close } = await connectClient(`${gateway.url}/${slug}/mcp`, { 'x-gateway-api-key': key });
    expect(await namesOf(client)).toEqual(['slow']);
    await close();
  });

  it('holds on the older transport', async () => {
    const { slug } = await register({ url: legacy.endpoint.href, transport: 'sse' });
    const [few, none] = await Promise.all([
      keyWith({ allowed_mcp_tools: [`${slug}/ec*`] }),
      keyWith({ allowed_mcp_tools: [`${slug}/other`] }),
    ]);
    const granted = await connectLegacyClient(`${gateway.url}/${slug}/sse`, { 'x-gateway-api-key': few.key });
    expect([await namesOf(granted), await callTool(granted, 'echo', { text: 'hello' })]).toEqual([['echo'], 'hello']);
    const refused = await connectLegacyClient(`${gateway.url}/${slug}/sse`, { 'x-gateway-api-key': none.key });
    expect(await namesOf(refused)).toEqual([]);
    await expect(refused.callTool({ name: 'echo', arguments: { text: 'hello' } })).rejects.toThrow('403');
    await Promise.all([granted.close(), refused.close()]);
  });
});

describe('the grants of a key in the management API', () => {
  it('stores them, shows them and takes them off', async () => {
    const grants = { allowed_mcp_servers: ['issues'], allowed_mcp_tools: ['issues/get_*'] };
    const { id, key } = await keyWith(grants);
    expect(await admin.read(`/v1/api-keys/${id}`)).toMatchObject(grants);
    expect(await admin.as(key).read('/v1/me')).toMatchObject(grants);
    const none = { allowed_mcp_servers: null, allowed_mcp_tools: null };
    expect(jsonOf(await admin.patch(`/v1/api-keys/${id}`, none))).toMatchObject(none);
  });

  it.each([
    ['allowed_mcp_servers', 'a slash', ['a/b']],
    ['allowed_mcp_servers', 'nothing', ['']],
    ['allowed_mcp_servers', 'an entry twice', ['a', 'a']],
    ['allowed_mcp_servers', 'too many entries', Array.from({ length: 257 }, (_, index) => `s-${index}`)],
    ['allowed_mcp_tools', 'a tool without a server', ['get_*']],
    ['allowed_mcp_tools', 'an empty server', ['/get']],
    ['allowed_mcp_tools', 'an empty tool', ['issues/']],
    ['allowed_mcp_tools', 'a number', [7]],
    ['allowed_mcp_tools', 'too many entries', Array.from({ length: 257 }, (_, index) => `s/t-${index}`)],
  ])('refuses in %s %s', async (param, _what, value) => {
    const body = { name: 'a', level: 'organisation', scopes: ['mcp.invoke'], [param]: value };
    expect(refusalOf(await admin.post('/v1/api-keys', body))).toMatchObject({ status: 400, param });
  });

  it.each([
    ['allowed_mcp_servers', {}],
    ['allowed_mcp_servers', { allowed_mcp_servers: null }],
    ['allowed_mcp_servers', { allowed_mcp_servers: ['issues', 'other'] }],
    ['allowed_mcp_tools', { allowed_mcp_servers: ['issues'] }],
    ['allowed_mcp_tools', { allowed_mcp_servers: ['issues'], allowed_mcp_tools: ['issues/*'] }],
    ['allowed_mcp_tools', { allowed_mcp_servers: ['issues'], allowed_mcp_tools: ['*/get_issue'] }],
  ])('refuses a key that grants more than it has: %s, %j', async (param, wider) => {
    const bounds = { allowed_mcp_servers: ['issues', 'wiki'], allowed_mcp_tools: ['issues/get_*', 'wiki/*'] };
    const { client, id } = await admin.createKey({ scopes: ['api_keys.create', 'api_keys.update'], ...bounds });
    const body = { name: 'a', level: 'organisation', scopes: ['api_keys.create'], ...wider };
    expect(refusalOf(await client.post('/v1/api-keys', body))).toMatchObject({ status: 403, param });
    const own = { allowed_mcp_servers: null, allowed_mcp_tools: null, ...wider };
    expect(refusalOf(await client.patch(`/v1/api-keys/${id}`, own))).toMatchObject({ status: 403, param });
  });

  it('lets a key grant what it has, or less', async () => {
    const bounds = { allowed_mcp_servers: ['issues', 'wiki'], allowed_mcp_tools: ['issues/get_*', 'wiki/*'] };
    const { client } = await admin.createKey({ scopes: ['api_keys.create'], ...bounds });
    for (const grants of [
      bounds,
      { allowed_mcp_servers: ['wiki'], allowed_mcp_tools: ['issues/get_a*', 'wiki/x/y'] },
    ]) {
      await client.createKey({ scopes: ['api_keys.create'], ...grants });
    }
  });
});
