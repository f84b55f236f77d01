// The gateway stores the tools of a server when clients list them: asynchronously, and without undoing
// an administrator's decision.
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { JsonObject } from '../src/common/json/read.js';
import { ToolListWatch } from '../src/mcp/inspection/tool-list-watch.js';
import { McpServerToolStore, MAX_TOOLS } from '../src/mcp/servers/mcp-server-tool.store.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { connectClient } from './support/mcp-client.js';
import { events, json, plain, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { startMcpServer, type McpSdkServer } from './support/mcp-servers.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const HEADERS = {
  'x-gateway-api-key': ADMIN_KEY,
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
};
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const UNCHANGED = { hash: expect.stringMatching(/^[\w-]{43}$/), changed_at: null, held: false };
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let gateway: TestApp;
let admin: GatewayClient;
let raw: RawMcpServer;
let sdk: McpSdkServer;

beforeAll(async () => {
  [gateway, raw, sdk] = await Promise.all([startTestApp(), startRawMcpServer(), startMcpServer()]);
  admin = new GatewayClient(gateway.url);
});

afterEach(() => raw.forget());

afterAll(async () => {
  await gateway.close();
  await Promise.all([raw.close(), sdk.close()]);
});

interface Registered {
  readonly url: string;
  readonly tools: string;
  readonly id: string;
}

async function register(client = admin, endpoint = raw.endpoint): Promise<Registered> {
  const slug = `s-${randomUUID()}`;
  const { id } = await client.create('/v1/mcp-servers', { name: 'A server', slug, url: endpoint.href });
  return { url: `${gateway.url}/${slug}/mcp`, tools: `/v1/mcp-servers/${String(id)}/tools`, id: String(id) };
}

function listing(tools: readonly unknown[], id: unknown = 1): object {
  return { jsonrpc: '2.0', id, result: { tools } };
}

/** The client's answer, after the gateway has stored all its tools. */
async function ask(url: string, body: unknown = LIST): Promise<Answer> {
  const answer = await send(url, { headers: HEADERS, body: JSON.stringify(body) });
  await flush();
  return answer;
}

/** The exchange ends after the answer is sent, possibly after the client has received it. */
async function flush(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20));
  await gateway.app.get(ToolListWatch, { strict: false }).flush();
}

async function toolsOf({ tools }: Registered): Promise<readonly JsonObject[]> {
  return admin.listAll(tools);
}

async function namesOf(server: Registered): Promise<readonly unknown[]> {
  return (await toolsOf(server)).map(({ name }) => name);
}

function seconds(): number {
  return Math.floor(gateway.clock.now().getTime() / 1_000);
}

describe('a list of tools that passes through the gateway', () => {
  it("stores the tools of a list and forwards the server's bytes unchanged", async () => {
    const server = await register();
    const tools = [{ name: 'search', description: 'Finds', inputSchema: {} }, { name: 'create' }];
    raw.answerWith(json(listing(tools)));
    const before = seconds();
    expect((await ask(server.url)).text).toBe(JSON.stringify(listing(tools)));
    const remembered = await toolsOf(server);
    const seen_at = Number(remembered[0]?.['seen_at']);
    expect(remembered).toEqual([
      { name: 'create', enabled: true, description: null, input_schema: null, seen_at, ...UNCHANGED },
      { name: 'search', enabled: true, description: 'Finds', input_schema: {}, seen_at, ...UNCHANGED },
    ]);
    expect(seen_at).toBeGreaterThanOrEqual(before);
    expect(seen_at).toBeLessThanOrEqual(seconds());
  });

  it('finds stored tools by a part of their name or description', async () => {
    raw.answerWith(
      json(
        listing([
          { name: 'add_note', description: 'Writes 100% of it' },
          { name: 'read', description: 'Adds up' },
          { name: 'zap' },
        ]),
      ),
    );
    const { url, tools } = await register();
    await ask(url);
    const named = async (text: string): Promise<unknown[]> =>
      (await admin.list(`${tools}?search=${encodeURIComponent(text)}`)).map(({ name }) => name);
    expect([await named('ADD'), await named('0%'), await named('d_n'), await named('nothing')]).toEqual([
      ['add_note', 'read'],
      ['add_note'],
      ['add_note'],
      [],
    ]);
  });

  it('stores a list that it knows only once an hour, and a changed one at once', async () => {
    const server = await register();
    const note = jest.spyOn(gateway.app.get(McpServerToolStore, { strict: false }), 'note');
    const wasStored = async (names: readonly string[]): Promise<boolean> => {
      note.mockClear();
      raw.answerWith(json(listing(names.map((name) => ({ name })))));
      await ask(server.url);
      return note.mock.calls.length > 0;
    };
    expect([await wasStored(['search']), await wasStored(['search'])]).toEqual([true, false]);
    expect([await wasStored(['search', 'create']), await wasStored([])]).toEqual([true, false]);
  });

  it('stores tools from event streams, page by page, and from the official server', async () => {
    const server = await register();
    const list = JSON.stringify(listing([{ name: 'first' }]));
    raw.answerWith(
      events([': hello\n\n', 'id: 1\ndata: \n\n', `data: ${list.slice(0, 20)}`, `${list.slice(20)}\n\n`], 5),
    );
    await ask(server.url);
    raw.answerWith(json(listing([{ name: 'second' }], 'page-2')));
    await ask(server.url, { ...LIST, id: 'page-2', params: { cursor: 'n' } });
    expect(await namesOf(server)).toEqual(['first', 'second']);

    const official = await register(admin, sdk.endpoint);
    const { client, close } = await connectClient(official.url, { 'x-gateway-api-key': ADMIN_KEY });
    const { tools } = await client.listTools();
    await close();
    await flush();
    expect(tools.length).toBeGreaterThan(1);
    expect(new Set(await namesOf(official))).toEqual(new Set(tools.map(({ name }) => name)));
  });

  it('forwards a list without delay and stores it although the client disconnects', async () => {
    const server = await register();
    raw.answerWith(events([`data: ${JSON.stringify(listing([{ name: 'early' }]))}\n\n`], 0, false));
    const text = await new Promise<string>((resolve, reject) => {
      const asking = request(server.url, { method: 'POST', headers: HEADERS, agent: false }, (answer) => {
        answer.once('data', (chunk: Buffer) => {
          resolve(chunk.toString());
          asking.destroy();
        });
        answer.on('error', () => undefined);
      });
      asking.on('error', reject).end(JSON.stringify(LIST));
    });
    expect(text).toContain('early');
    await eventually(() => raw.received[0]?.closedEarlyAt !== undefined);
    await flush();
    expect(await namesOf(server)).toEqual(['early']);
  });

  it("neither deletes nor enables tools after one caller's list", async () => {
    const server = await register();
    await admin.put(server.tools, { tools: [{ name: 'delete', enabled: false }] });
    raw.answerWith(
      json(
        listing([
          { name: 'search', description: 'old' },
          { name: 'delete', description: 'Deletes' },
        ]),
      ),
    );
    // A disabled tool does not reach the client, but the gateway stores it.
    expect((await ask(server.url)).text).not.toContain('delete');
    raw.answerWith(json(listing([{ name: 'search', description: 'new' }, { name: 'of-bob' }])));
    await ask(server.url);
    raw.answerWith(json(listing([])));
    await ask(server.url);
    expect(await toolsOf(server)).toMatchObject([
      { name: 'delete', enabled: false, description: 'Deletes' },
      { name: 'of-bob', enabled: true },
      { name: 'search', enabled: true, description: 'new' },
    ]);
  });

  it('writes a list when it has new tools, else once per hour', async () => {
    const server = await register();
    const versions = async (): Promise<unknown> =>
      gateway.dataSource.query('SELECT name, xmin::text FROM mcp_server_tools WHERE server_id = $1 ORDER BY name', [
        server.id,
      ]);
    raw.answerWith(json(listing([{ name: 'a' }, { name: 'b' }])));
    await ask(server.url);
    const first = await versions();
    for (const id of [1, 1, 1]) await ask(server.url, { ...LIST, id });
    expect(await versions()).toEqual(first);
    // The page of another caller, with a known and an unknown tool.
    raw.answerWith(json(listing([{ name: 'a' }, { name: 'c' }])));
    await ask(server.url);
    expect(await versions()).toEqual([...Object(first), expect.objectContaining({ name: 'c' })]);
    gateway.clock.advance(HOUR_MS);
    await ask(server.url);
    const now = gateway.clock.now().getTime();
    const hoursAgo = (await toolsOf(server)).map(({ seen_at }) => Math.round((now / 1_000 - Number(seen_at)) / 3_600));
    expect(hoursAgo).toEqual([0, 1, 0]);
  });

  it('limits how many lists per minute it reads', async () => {
    const server = await register();
    const names = Array.from({ length: 40 }, (_none, index) => `tool-${String(index).padStart(2, '0')}`);
    for (const name of names) {
      raw.answerWith(json(listing([{ name }])));
      await send(server.url, { headers: HEADERS, body: JSON.stringify(LIST) });
    }
    await flush();
    expect(await namesOf(server)).toEqual(names.slice(0, 32));
    gateway.clock.advance(MINUTE_MS);
    await ask(server.url);
    expect(await namesOf(server)).toEqual([...names.slice(0, 32), 'tool-39']);
  });

  it('logs a failed write, answers the call and writes the tools the next time', async () => {
    const server = await register();
    raw.answerWith(json(listing([{ name: 'unwritten-tool' }])));
    const spy = jest.spyOn(gateway.app.get(McpServerToolStore, { strict: false }), 'note');
    spy.mockRejectedValueOnce(new Error('unwritten-tool'));
    expect((await ask(server.url)).status).toBe(200);
    expect(await namesOf(server)).toEqual([]);
    expect(gateway.log()).toContain('mcp_tools_not_noted');
    expect(gateway.log()).not.toContain('unwritten-tool');
    await ask(server.url);
    spy.mockRestore();
    expect(await namesOf(server)).toEqual(['unwritten-tool']);
  });
});

describe('tools that are not stored', () => {
  const TOOLS = [{ name: 'x' }];
  const unknown = { 'content-encoding': 'compress' };

  it.each<[string, ReturnType<typeof json>, unknown]>([
    [
      'text that is not JSON',
      plain(200, { 'content-type': 'application/json' }, '{"id":1,"result":{"tools":[{"name":"x"}]'),
      LIST,
    ],
    ['an error', json({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'no' } }), LIST],
    ['a result that is an error', json({ id: 1, result: { isError: true, tools: TOOLS } }), LIST],
    ['the answer to another request', json(listing(TOOLS, 2)), LIST],
    ['an answer with another status', json(listing(TOOLS), 500), LIST],
    ['an answer of another type', plain(200, { 'content-type': 'text/plain' }, JSON.stringify(listing(TOOLS))), LIST],
    ['an answer in a coding that is unknown', json(listing(TOOLS), 200, unknown), LIST],
    ['the result of a tool call', json(listing(TOOLS)), { ...LIST, method: 'tools/call', params: { name: 'x' } }],
    ['the answer to a notification', json(listing(TOOLS)), { jsonrpc: '2.0', method: 'tools/list' }],
  ])('stores no tools from %s', async (_what, answer, body) => {
    const server = await register();
    raw.answerWith(answer);
    await send(server.url, { headers: HEADERS, body: JSON.stringify(body) });
    await flush();
    expect(raw.received).toHaveLength(1);
    expect(await namesOf(server)).toEqual([]);
  });

  it('stores a limited number of tools per server', async () => {
    const server = await register();
    const many = Array.from({ length: 10_000 }, (_none, index) => ({ name: `tool-${index}` }));
    raw.answerWith(json(listing(many)));
    expect(jsonOf(await ask(server.url))).toEqual(listing(many));
    expect(await toolsOf(server)).toHaveLength(MAX_TOOLS);
    raw.answerWith(json(listing([{ name: 'one-more' }, { name: 'tool-7', description: 'described' }])));
    await ask(server.url);
    const tools = await toolsOf(server);
    expect(tools).toHaveLength(MAX_TOOLS);
    expect(tools).toContainEqual(expect.objectContaining({ name: 'tool-7', description: 'described' }));
  });

  it('forwards a list that is too long without storing it', async () => {
    const server = await register();
    const list = listing([{ name: 'x'.repeat(1024 * 1024) }, { name: 'short' }]);
    raw.answerWith(json(list));
    expect((await ask(server.url)).text).toBe(JSON.stringify(list));
    expect(await namesOf(server)).toEqual([]);
  });

  it('skips a tool whose name cannot be stored, and stores the others', async () => {
    const server = await register();
    const description = `a\0b\ud800${'x'.repeat(5_000)}`;
    const names = ['', 'x'.repeat(256), 'nul\0', 'half\ud800', '__proto__', 'constructor', "'; DROP TABLE x"];
    raw.answerWith(json(listing(names.map((name) => ({ name, description })))));
    expect((await ask(server.url)).status).toBe(200);
    const tools = await toolsOf(server);
    expect(new Set(tools.map(({ name }) => name))).toEqual(new Set(["'; DROP TABLE x", '__proto__', 'constructor']));
    expect(String(tools[0]?.['description'])).toMatch(/^a\uFFFDb\uFFFDx+$/);
    expect(String(tools[0]?.['description'])).toHaveLength(4_096);
  });

  it('stores no tools for servers of other tenants or deleted servers', async () => {
    const other = await addTenant(gateway, `lists-${randomUUID()}`);
    const theirs = await register(other.client);
    const ours = await register();
    raw.answerWith(json(listing([{ name: 'ours' }])));
    await ask(ours.url);
    expect((await ask(theirs.url)).status).toBe(404);
    expect(await other.client.list(theirs.tools)).toEqual([]);
    const rows = gateway.app.get(McpServerToolStore, { strict: false });
    const { organisation_id } = await admin.read('/v1/workspaces/default');
    await rows.note({ id: theirs.id, organisationId: String(organisation_id) }, [{ name: 'smuggled' }]);
    await rows.note({ id: randomUUID(), organisationId: other.organisationId }, [{ name: 'nowhere' }]);
    expect(await other.client.list(theirs.tools)).toEqual([]);
    await rows.note({ id: theirs.id, organisationId: other.organisationId }, [{ name: 'own' }]);
    expect(await other.client.list(theirs.tools)).toMatchObject([{ name: 'own' }]);
  });
});
