// After a server's address has changed to another server, sessions and message addresses of the old one must not reach it.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { events, json, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { jsonOf } from './support/send.js';

const SESSION = 'session-of-the-old-server';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const mcp = rawMcpGateway();
let other: RawMcpServer;

beforeAll(async () => {
  other = await startRawMcpServer();
});

afterEach(() => other.forget());

afterAll(() => other.close());

async function moveTo(slug: string, url: URL): Promise<void> {
  expect((await mcp.admin.patch(`/v1/mcp-servers/${slug}`, { url: url.href })).status).toBe(200);
}

describe('a session of a server that moves', () => {
  async function begun(): Promise<{ readonly path: string; readonly headers: Readonly<Record<string, string>> }> {
    const slug = await mcp.register();
    mcp.raw.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }, 200, { 'mcp-session-id': SESSION }));
    const { headers } = await mcp.call(`/${slug}/mcp`, { ...PING, method: 'initialize' });
    return { path: `/${slug}/mcp`, headers: { 'mcp-session-id': String(headers['mcp-session-id']) } };
  }

  it('ends a session when its server moves to another origin, and does not forward its id', async () => {
    const { path, headers } = await begun();
    expect((await mcp.call(path, PING, headers)).status).toBe(200);
    await moveTo(path.split('/')[1] ?? '', other.endpoint);
    const answer = await mcp.call(path, PING, headers);
    expect(answer.status).toBe(404);
    expect(jsonOf(answer)).toMatchObject({ error: { data: { code: 'not_found' } } });
    expect(other.received).toEqual([]);
    expect((await mcp.call(path, PING)).status).toBe(200);
    expect(other.received).toHaveLength(1);
  });

  it('keeps a session when its server moves to another path', async () => {
    const { path, headers } = await begun();
    await moveTo(path.split('/')[1] ?? '', mcp.raw.url('/v2/mcp'));
    expect((await mcp.call(path, PING, headers)).status).toBe(200);
    expect(mcp.raw.received.at(-1)).toMatchObject({ path: '/v2/mcp', rawHeaders: expect.arrayContaining([SESSION]) });
  });
});

it('refuses a message address of the old server after a move', async () => {
  const slug = await mcp.register({ transport: 'sse' });
  mcp.raw.answerWith(events(['event: endpoint\ndata: /messages?of=old\n\n']));
  const { text } = await mcp.call(`/${slug}/sse`, '', {}, 'GET');
  const address = /data: (\S+)/.exec(text)?.[1] ?? '';
  const path = new URL(address, mcp.gateway.url).pathname + new URL(address, mcp.gateway.url).search;
  await moveTo(slug, other.endpoint);
  expect((await mcp.call(path, PING)).status).toBe(404);
  expect(other.received).toEqual([]);
});
