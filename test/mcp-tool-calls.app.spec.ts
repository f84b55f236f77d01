// Tools that are tried out through the API, as the console does it.
import { randomUUID } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isObject, type JsonObject } from '../src/common/json/read.js';
import { type Loopback, startHttp } from '../src/upstream/__fixtures__/loopback.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { type LegacyMcpServer, startLegacyMcpServer } from './support/mcp-legacy-server.js';
import { startModernMcpServer, type ModernMcpServer } from './support/mcp-modern-server.js';
import { type McpSdkServer, startMcpServer } from './support/mcp-servers.js';
import { jsonOf, refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

let gateway: TestApp;
let admin: GatewayClient;
let sdk: McpSdkServer;
let legacy: LegacyMcpServer;
let modern: ModernMcpServer;
let other: Tenant;

beforeAll(async () => {
  [gateway, sdk, legacy, modern] = await Promise.all([
    startTestApp(),
    startMcpServer(),
    startLegacyMcpServer(),
    startModernMcpServer({ tools: ['echo', 'a/b ü'] }),
  ]);
  admin = new GatewayClient(gateway.url);
  other = await addTenant(gateway, 'other');
});

afterAll(async () => {
  await gateway.close();
  await Promise.all([sdk.close(), legacy.close(), modern.close()]);
});

async function register(fields: object = {}): Promise<string> {
  const slug = `s-${randomUUID()}`;
  await admin.create('/v1/mcp-servers', { name: 'A', slug, url: sdk.endpoint.href, ...fields });
  return slug;
}

async function call(slug: string, tool: string, args?: object, client = admin): Promise<JsonObject> {
  const answer = await client.post(pathOf(slug, tool), args === undefined ? {} : { arguments: args });
  expect(answer.status).toBe(200);
  return jsonOf(answer);
}

function pathOf(slug: string, tool: string): string {
  return `/v1/mcp-servers/${slug}/tools/${encodeURIComponent(tool)}/call`;
}

async function lastCall(slug: string): Promise<JsonObject> {
  const rows = (): Promise<readonly JsonObject[]> => admin.list(`/v1/mcp-servers/${slug}/calls`);
  await eventually(async () => (await rows()).length > 0);
  return (await rows())[0] ?? {};
}

describe('the input schema of a tool', () => {
  it('is listed after a test, with its fields in their order, and a list can be sent back', async () => {
    const slug = await register();
    expect(jsonOf(await admin.post(`/v1/mcp-servers/${slug}/test`))).toMatchObject({ ok: true });
    const list = await admin.read(`/v1/mcp-servers/${slug}/tools?page_size=100`);
    const tools = await admin.list(`/v1/mcp-servers/${slug}/tools?page_size=100`);
    expect(tools.find(({ name }) => name === 'echo')?.['input_schema']).toMatchObject({
      type: 'object',
      properties: { text: { type: 'string' } },
      required: ['text'],
    });
    expect((await admin.put(`/v1/mcp-servers/${slug}/tools`, list)).status).toBe(200);
  });
});

describe('the call of a tool through the API', () => {
  it.each([
    ['streamable HTTP', () => ({})],
    ['the older transport', () => ({ url: legacy.endpoint.href, transport: 'sse' })],
    ['no handshake', () => ({ url: modern.endpoint.href })],
  ])('returns what the tool returns, over %s, and is in the log and the usage', async (_how, fields) => {
    const slug = await register(fields());
    const answer = await call(slug, 'echo', { text: 'hello' });
    expect(answer).toEqual({
      object: 'mcp-tool-call',
      outcome: 'ok',
      content: [{ type: 'text', text: expect.any(String) }],
      structured_content: null,
      error: null,
      latency_ms: expect.any(Number),
    });
    expect(JSON.stringify(answer['content'])).toContain('hello');
    expect(await lastCall(slug)).toMatchObject({
      rpc_method: 'tools/call',
      tool: 'echo',
      outcome: 'ok',
      caller_type: 'api_key',
    });
    await eventually(async () => {
      const rows = await admin.list(`/v1/usage?group_by=mcp_tool&bucket=none&mcp_server=${slug}`);
      return rows.some(({ calls }) => calls === 1);
    });
  });

  it('names a tool whose name a header or an address cannot hold', async () => {
    const slug = await register({ url: modern.endpoint.href });
    expect(await call(slug, 'a/b ü')).toMatchObject({ outcome: 'ok' });
  });

  it('shows an error of the tool, and a refusal of the server', async () => {
    const slug = await register();
    const failed = await call(slug, 'error');
    expect(failed).toMatchObject({ outcome: 'tool_error', content: [{ type: 'text', text: 'the tool failed' }] });
    expect(await lastCall(slug)).toMatchObject({ outcome: 'tool_error' });
    const unknown = await register({ url: modern.endpoint.href });
    expect(await call(unknown, 'nothing')).toMatchObject({
      outcome: 'rpc_error',
      content: [],
      error: { code: expect.any(Number), message: expect.any(String) },
    });
    expect(await lastCall(unknown)).toMatchObject({ outcome: 'rpc_error' });
  });

  it('refuses a result that nests too deep, and logs that the tool was called', async () => {
    for (const levels of [100, 100_000]) {
      const deep = await startDeepMcpServer(levels);
      const slug = await register({ url: deep.url('/mcp').href });
      const refusal = refusalOf(await admin.post(pathOf(slug, 'echo'), {}));
      expect(refusal).toMatchObject({ status: 502, code: 'provider_invalid_response' });
      const logged = { outcome: 'gateway_error', error_code: 'provider_invalid_response', tool: 'echo' };
      expect(await lastCall(slug)).toMatchObject(logged);
      await deep.close();
    }
  });

  it('refuses a disabled tool, and one that the key may not use, and logs the refusal', async () => {
    const slug = await register();
    await admin.put(`/v1/mcp-servers/${slug}/tools`, { tools: [{ name: 'echo', enabled: false }] });
    const denied = { status: 403, code: 'permission_denied', param: 'tool' };
    expect(refusalOf(await admin.post(pathOf(slug, 'echo'), {}))).toMatchObject(denied);
    expect(await lastCall(slug)).toMatchObject({ outcome: 'gateway_error', tool: 'echo', status: 403 });
    const open = await register();
    const fields = { scopes: ['mcp.invoke'], allowed_mcp_tools: [`${open}/slow`] };
    const { client } = await admin.createKey(fields);
    expect(refusalOf(await client.post(pathOf(open, 'echo'), {}))).toMatchObject(denied);
    expect(await call(open, 'slow', { ms: 1 }, client)).toMatchObject({ outcome: 'ok' });
  });

  it('knows no server of another organisation, none that the key may not use, and no disabled one', async () => {
    const slug = await register();
    const missing = { status: 404, code: 'not_found' };
    expect(refusalOf(await other.client.post(pathOf(slug, 'echo'), {}))).toMatchObject(missing);
    const { client } = await admin.createKey({ scopes: ['mcp.invoke'], allowed_mcp_servers: ['another'] });
    expect(refusalOf(await client.post(pathOf(slug, 'echo'), {}))).toMatchObject(missing);
    await admin.patch(`/v1/mcp-servers/${slug}`, { enabled: false });
    expect(refusalOf(await admin.post(pathOf(slug, 'echo'), {}))).toMatchObject({ status: 409, code: 'conflict' });
  });

  it('needs the scope mcp.invoke, and arguments that are an object', async () => {
    const slug = await register();
    const { client } = await admin.createKey({ scopes: ['mcp_servers.read'] });
    expect(refusalOf(await client.post(pathOf(slug, 'echo'), {}))).toMatchObject({ code: 'permission_denied' });
    for (const args of [[], 'text', 1]) {
      const refusal = refusalOf(await admin.post(pathOf(slug, 'echo'), { arguments: args }));
      expect(refusal).toMatchObject({ code: 'validation_failed', param: 'arguments' });
    }
  });

  it('says in time that the server does not answer, or cannot be reached', async () => {
    const slug = await register({ timeouts: { first_byte_ms: 300 } });
    expect(refusalOf(await admin.post(pathOf(slug, 'slow'), { arguments: { ms: 5_000 } }))).toMatchObject({
      code: 'provider_timeout',
    });
    expect(await lastCall(slug)).toMatchObject({ outcome: 'gateway_error', error_code: 'provider_timeout' });
    const away = await register({ url: 'http://127.0.0.1:9/mcp' });
    expect(refusalOf(await admin.post(pathOf(away, 'echo'), {}))).toMatchObject({ code: 'provider_failed' });
  });

  it('gives the server the identity of the caller, as a client would', async () => {
    const slug = await register({ user_identity_forwarding: { method: 'claims_header' } });
    const { client } = await admin.createKey({
      scopes: ['mcp.invoke'],
      type: 'user',
      user: { user_id: 'u-7', email: 'seven@example.com' },
    });
    await call(slug, 'echo', { text: 'hi' }, client);
    const names = sdk.requests.at(-1)?.headers ?? {};
    expect(String(names['x-user-claims'])).toContain('u-7');
    expect(names['cookie']).toBeUndefined();
    expect(names['x-gateway-api-key']).toBeUndefined();
    expect(await lastCall(slug)).toMatchObject({ user_id: 'u-7' });
  });
});

/** Its tools return lists within lists. */
function startDeepMcpServer(levels: number): Promise<Loopback> {
  return startHttp((request, response) => {
    void text(request).then((body) => {
      const message: unknown = body === '' ? {} : JSON.parse(body);
      const { method, id } = isObject(message) ? message : {};
      const data = `${'['.repeat(levels)}${']'.repeat(levels)}`;
      const info = '"capabilities":{"tools":{}},"serverInfo":{"name":"deep","version":"1"}';
      const result =
        method === 'initialize'
          ? `{"protocolVersion":"2025-03-26",${info}}`
          : `{"content":[{"type":"text","text":"","data":${data}}]}`;
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'server/discover') return void response.writeHead(404).end();
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"jsonrpc":"2.0","id":${Number(id)},"result":${result}}`);
    });
  });
}
