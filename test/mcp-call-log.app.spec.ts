// The records of requests to MCP servers: no request reaches a server without a record.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { McpCall } from '../src/mcp/calls/mcp-call.entity.js';
import { McpCallRecorder } from '../src/mcp/calls/mcp-call.recorder.js';
import type { McpCallRow } from '../src/mcp/calls/mcp-call.store.js';
import { eventually } from './support/eventually.js';
import { events } from './support/mcp-raw-server.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { ADMIN_KEY } from './support/test-app.js';

const CALL = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'search' } };
const PING = { jsonrpc: '2.0', id: 9, method: 'ping' };

const mcp = rawMcpGateway();

/** The bytes of a request. */
function requestOf(slug: string, body: string): string {
  const head = [
    `POST /${slug}/mcp HTTP/1.1`,
    `host: ${new URL(mcp.gateway.url).host}`,
    `x-gateway-api-key: ${ADMIN_KEY}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

async function rowsOf(slug: string): Promise<readonly McpCall[]> {
  await mcp.gateway.app.get(McpCallRecorder, { strict: false }).flush();
  return mcp.gateway.dataSource
    .getRepository(McpCall)
    .find({ where: { serverSlug: slug }, order: { createdAt: 'ASC' } });
}

describe('a message that cannot be counted', () => {
  it.each<readonly [string, string, string, number]>([
    [
      'names two methods',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"search"}}',
      'application/json',
      400,
    ],
    [
      'names its method in another spelling as well',
      '{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call","params":{"name":"search"}}',
      'application/json',
      400,
    ],
    [
      'is JSON for lenient readers only',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"x":NaN}}}',
      'application/json',
      400,
    ],
    ['is of another charset', JSON.stringify(CALL), 'application/json; charset=latin1', 415],
    ['is one of too many in a batch', JSON.stringify(Array(101).fill(CALL)), 'application/json', 400],
  ])('refuses and records a message before the server receives it when it %s', async (_what, body, type, status) => {
    const slug = await mcp.register();
    expect(await mcp.post(slug, body, { 'content-type': type })).toBe(status);
    expect(mcp.raw.received).toEqual([]);
    expect(await rowsOf(slug)).toMatchObject([{ status, tool: null }]);
  });

  it('refuses a message whose header names another tool than its body', async () => {
    const slug = await mcp.register();
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' };
    expect(await mcp.post(slug, CALL, { ...headers, 'mcp-name': 'other' })).toBe(400);
    expect(mcp.raw.received).toEqual([]);
    expect(await mcp.post(slug, CALL, { ...headers, 'mcp-name': 'search' })).toBe(200);
  });
});

describe('a body that is refused', () => {
  const TWICE = '{"jsonrpc":"2.0","id":1,"method":"ping","method":"x"}';
  const TOO_LARGE = Buffer.alloc(5 * 1024 * 1024, ' ');

  it.each<readonly [string, string | readonly Buffer[], Readonly<Record<string, string>>, number, number]>([
    ['ambiguous', TWICE, {}, 400, TWICE.length],
    ['no JSON', '['.repeat(1_000), {}, 400, 1_000],
    ['compressed', TWICE, { 'content-encoding': 'gzip' }, 415, TWICE.length],
    ['too large', TOO_LARGE.toString(), {}, 413, TOO_LARGE.length],
    ['too large, in chunks', [TOO_LARGE], {}, 413, TOO_LARGE.length],
    ['for a session that there is not', TWICE, { 'mcp-session-id': 'none' }, 404, TWICE.length],
  ])('records the size of a refused body: %s', async (_what, body, headers, status, size) => {
    const slug = await mcp.register();
    expect(await mcp.call(`/${slug}/mcp`, body, headers)).toMatchObject({ status });
    expect(await rowsOf(slug)).toMatchObject([{ status, bytesIn: String(size) }]);
  });
});

describe('a call of a disabled tool', () => {
  const OFF = { ...CALL, id: 2, params: { name: 'off' } };

  it.each<readonly [string, object, number]>([
    ['alone', OFF, 200],
    ['in a batch, behind one that is not', [PING, CALL, OFF], 200],
    ['without asking for an answer', [CALL, { ...OFF, id: undefined }].map(({ id: _id, ...rest }) => rest), 202],
  ])('records the call of a disabled tool: %s', async (_what, body, status) => {
    const slug = await mcp.register();
    await mcp.admin.put(`/v1/mcp-servers/${slug}/tools`, { tools: [{ name: 'off', enabled: false }] });
    expect(await mcp.post(slug, body)).toBe(status);
    expect(mcp.raw.received).toEqual([]);
    const refused = { status, rpcMethod: 'tools/call', tool: 'off', errorCode: 'permission_denied' };
    expect(await rowsOf(slug)).toMatchObject([refused]);
  });

  it('records the refused call of a disabled tool on the SSE transport', async () => {
    const slug = await mcp.register({ transport: 'sse' });
    await mcp.admin.put(`/v1/mcp-servers/${slug}/tools`, { tools: [{ name: 'off', enabled: false }] });
    mcp.raw.answerWith(events(['event: endpoint\ndata: /messages\n\n']));
    const stream = await mcp.call(`/${slug}/sse`, '', {}, 'GET');
    const endpoint = /data: (\S+)/.exec(stream.text)?.[1] ?? '';
    expect(await mcp.call(endpoint, [CALL, OFF])).toMatchObject({ status: 403 });
    const [, row] = await rowsOf(slug);
    expect(row).toMatchObject({ status: 403, tool: 'off', errorCode: 'permission_denied' });
  });
});

describe('a call of a tool', () => {
  it('records a batch as a tool call wherever the call stands in it', async () => {
    const slug = await mcp.register();
    expect(await mcp.post(slug, [PING, CALL, CALL])).toBe(200);
    expect(await rowsOf(slug)).toMatchObject([{ status: 200, rpcMethod: 'tools/call', tool: 'search' }]);
    expect(await mcp.callsByTool(slug, 2)).toEqual({ search: 2 });
  });

  it('counts every call in a batch of the maximum size', async () => {
    const slug = await mcp.register();
    expect(await mcp.post(slug, Array(100).fill(CALL))).toBe(200);
    expect(await mcp.callsByTool(slug, 100)).toEqual({ search: 100 });
  });

  it('counts a call whose tool name cannot be stored unchanged', async () => {
    const slug = await mcp.register();
    expect(await mcp.post(slug, { ...CALL, params: { name: 'a\u0000b\ud800' } })).toBe(200);
    expect(await mcp.callsByTool(slug, 1)).toEqual({ 'a\uFFFDb\uFFFD': 1 });
  });

  it('counts a call when the client disconnects before the answer', async () => {
    const slug = await mcp.register();
    mcp.raw.answerWith(() => undefined);
    const client = connect(Number(new URL(mcp.gateway.url).port), '127.0.0.1');
    client.write(requestOf(slug, JSON.stringify(CALL)));
    await eventually(() => mcp.raw.received.length === 1);
    client.destroy();
    await eventually(async () => (await rowsOf(slug)).length === 1);
    expect(await rowsOf(slug)).toMatchObject([{ status: 499, errorCode: null, tool: 'search' }]);
    expect(await mcp.callsByTool(slug, 1)).toEqual({ search: 1 });
  });
});

describe('a client that disconnects', () => {
  it('records 499 when the client disconnects in the middle of its request', async () => {
    const slug = await mcp.register();
    const client = connect(Number(new URL(mcp.gateway.url).port), '127.0.0.1');
    client.end(requestOf(slug, JSON.stringify(CALL)).slice(0, -1));
    await eventually(async () => (await rowsOf(slug)).length === 1);
    expect(await rowsOf(slug)).toMatchObject([{ status: 499, errorCode: null }]);
    expect(mcp.raw.received).toEqual([]);
  });
});

describe('a row that the database refuses', () => {
  const recorded = async (slugs: readonly string[]): Promise<readonly McpCall[]> =>
    (await Promise.all(slugs.map(rowsOf))).flat();

  it('drops a row that the database refuses and keeps the others', async () => {
    const slug = await mcp.register();
    await mcp.post(slug, CALL);
    const [row] = await rowsOf(slug);
    const recorder = mcp.gateway.app.get(McpCallRecorder, { strict: false });
    const slugs = Array.from({ length: 7 }, () => `s-${randomUUID()}`);
    for (const [index, serverSlug] of slugs.entries()) {
      recorder.add({
        ...another(row),
        serverSlug,
        organisationId: index === 3 ? 'no uuid' : another(row).organisationId,
      });
    }
    const found = await recorded(slugs);
    expect(found.map(({ serverSlug }) => serverSlug)).toEqual(slugs.filter((_slug, index) => index !== 3));
    recorder.add({ ...another(row), serverSlug: `${slug}-next` });
    expect(await rowsOf(`${slug}-next`)).toHaveLength(1);
  });

  it('clamps durations that exceed the range of the column', async () => {
    const slug = await mcp.register();
    await mcp.post(slug, CALL);
    const [row] = await rowsOf(slug);
    const serverSlug = `s-${randomUUID()}`;
    mcp.gateway.app
      .get(McpCallRecorder, { strict: false })
      .add({ ...another(row), serverSlug, totalMs: 30 * 24 * 3_600_000, firstByteMs: 2 ** 31 });
    expect(await rowsOf(serverSlug)).toMatchObject([{ totalMs: 2_147_483_647, firstByteMs: 2_147_483_647 }]);
  });
});

/** Another row with the same values. */
function another(row: McpCallRow | undefined): McpCallRow {
  if (row === undefined) throw new Error('there is no row');
  return { ...row, id: randomUUID() };
}
