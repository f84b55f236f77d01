// Two gateways on one PostgreSQL behind a round-robin balancer: no replica may hold session state that
// the other does not have.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from './support/eventually.js';
import { EventReader } from './support/event-reader.js';
import { GatewayClient } from './support/gateway-client.js';
import { callTool, type ConnectedClient, connectClient } from './support/mcp-client.js';
import { McpReplicas } from './support/mcp-replicas.js';
import { type McpSdkServer, startMcpServer } from './support/mcp-servers.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { databaseServer, onServer } from './support/services.js';

const FIRST_SECRET = 'a'.repeat(32);
const SECOND_SECRET = 'b'.repeat(32);
const OLD = { MCP_SESSION_SECRETS: FIRST_SECRET };
const BOTH = [0, 1] as const;
const VERSION = { 'mcp-protocol-version': '2025-06-18' };
const ACCEPT = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };

// About ten starts of a gateway, several seconds each on a busy machine.
jest.setTimeout(120_000);

type Headers = Readonly<Record<string, string>>;

onServer('two gateways behind a balancer (needs DATABASE_URL)', () => {
  let replicas: McpReplicas;
  let sdk: McpSdkServer;
  let url: string;
  let path: string;
  let admin: GatewayClient;
  let alice: Headers;
  let bob: Headers;
  const clients: ConnectedClient[] = [];

  beforeAll(async () => {
    [replicas, sdk] = await Promise.all([
      McpReplicas.start(databaseServer ?? '', [OLD, OLD]),
      startMcpServer({ resumable: true }),
    ]);
    admin = new GatewayClient(replicas.url);
    [alice, bob] = await Promise.all([credentialsOf('alice'), credentialsOf('bob')]);
    const slug = `s-${randomUUID()}`;
    const { id } = await admin.create('/v1/mcp-servers', { name: 'A server', slug, url: sdk.endpoint.href });
    url = `${replicas.url}/${slug}/mcp`;
    path = `/v1/mcp-servers/${String(id)}`;
  });

  afterEach(async () => {
    replicas.front.pin();
    for (const { close } of clients.splice(0)) await close();
  });

  afterAll(async () => {
    await replicas.close();
    await sdk.close();
  });

  async function credentialsOf(user_id: string): Promise<Headers> {
    const { key } = await admin.createKey({ scopes: ['mcp.invoke'], type: 'user', user: { user_id } });
    return { 'x-gateway-api-key': key };
  }

  async function connect(headers = alice): Promise<ConnectedClient> {
    const connected = await connectClient(url, headers);
    clients.push(connected);
    return connected;
  }

  /** A session without the stream that the official client opens by itself. */
  async function openSession(): Promise<string> {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const { headers } = await send(url, { headers: { ...ACCEPT, ...alice }, body });
    return String(headers['mcp-session-id']);
  }

  /** The server refuses a second stream (409) until it has seen the end of the old one. */
  async function resume(headers: Headers): Promise<EventReader> {
    let reader = new EventReader(url, { method: 'GET', headers });
    await eventually(async () => {
      await eventually(() => reader.status !== 0);
      if (reader.status !== 409) return true;
      reader = new EventReader(url, { method: 'GET', headers });
      return false;
    });
    expect(reader.status).toBe(200);
    return reader;
  }

  function ask(index: number, sessionId: string, method = 'POST', headers = alice): Promise<Answer> {
    replicas.front.pin(index);
    const body = method === 'POST' ? JSON.stringify(call('echo', { text: 'hello' })) : '';
    return send(url, { method, headers: { ...ACCEPT, ...VERSION, ...headers, 'mcp-session-id': sessionId }, body });
  }

  function call(name: string, args: object = {}, id: string | number = 1): object {
    return {
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name, arguments: args, _meta: { progressToken: id } },
    };
  }

  it('serves one session on both replicas', async () => {
    const turns = replicas.front.turns.length;
    const sessions = sdk.sessions.size;
    const { client } = await connect();
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('echo');
    for (let each = 0; each < 10; each += 1)
      expect(await callTool(client, 'echo', { text: `${each}` })).toBe(`${each}`);
    expect(sdk.sessions.size).toBe(sessions + 1);
    const served = replicas.front.turns.slice(turns);
    for (const index of BOTH) expect(served.filter((turn) => turn === index).length).toBeGreaterThan(4);
  });

  it('forwards progress and cancellation on either replica', async () => {
    const { client } = await connect();
    const progress: number[] = [];
    const onprogress = (event: { progress: number }): void => void progress.push(event.progress);
    await client.callTool({ name: 'progress' }, CallToolResultSchema, { onprogress });
    expect(progress).toEqual([1, 2, 3]);
    const before = { started: sdk.slowCalls, cancelled: sdk.cancelled };
    const leaving = new AbortController();
    const { signal } = leaving;
    const calling = client.callTool({ name: 'slow', arguments: { ms: 60_000 } }, CallToolResultSchema, { signal });
    const failed = expect(calling).rejects.toThrow();
    await eventually(() => sdk.slowCalls === before.started + 1);
    leaving.abort();
    await failed;
    await eventually(() => sdk.cancelled === before.cancelled + 1);
  });

  it('resumes a stream of the other replica without lost, repeated or foreign events', async () => {
    const { sessionId } = await connect();
    const headers = { ...ACCEPT, ...VERSION, ...alice, 'mcp-session-id': sessionId() };
    const post = (id: string): EventReader =>
      new EventReader(url, { headers, body: JSON.stringify(call('progress', {}, id)) });
    replicas.front.pin(0);
    const cut = post('cut');
    const other = post('other');
    await eventually(() => cut.events.some(({ data }) => data.includes('"progress":1')));
    cut.cut();
    replicas.front.pin(1);
    const resumed = await resume({ ...headers, 'last-event-id': cut.ids.at(-1) ?? '' });
    await eventually(() => resumed.events.some(({ data }) => data.includes('"result"')) && other.hasEnded);
    resumed.cut();
    const messages = [...cut.events, ...resumed.events].map(({ data }) => data).filter((data) => data !== '');
    expect(messages.map((data) => JSON.parse(data))).toMatchObject([
      { params: { progressToken: 'cut', progress: 1 } },
      { params: { progressToken: 'cut', progress: 2 } },
      { params: { progressToken: 'cut', progress: 3 } },
      { id: 'cut', result: { content: [{ text: 'done' }] } },
    ]);
    const ids = [...cut.ids, ...resumed.ids];
    expect(new Set(ids).size).toBe(ids.length);
    expect(other.events.map(({ data }) => data).join()).not.toContain('"cut"');
  });

  it("refuses another user's session on both replicas without calling the server", async () => {
    const id = await openSession();
    const before = sdk.requests.length;
    const admins = { 'x-gateway-api-key': '' };
    const attempts: readonly (readonly [string, Headers])[] = [
      [id, bob],
      [id.slice(0, 36), alice],
      [id.slice(0, -1), alice],
      [id.replace(/.$/, (digit) => (digit === '0' ? '1' : '0')), alice],
    ];
    for (const index of BOTH) {
      for (const method of ['POST', 'GET', 'DELETE']) {
        for (const [stolen, headers] of attempts) expect((await ask(index, stolen, method, headers)).status).toBe(404);
        expect((await ask(index, id, method, admins)).status).toBe(401);
      }
    }
    expect(sdk.requests.slice(before).map(({ method }) => method)).toEqual([]);
    for (const index of BOTH) expect((await ask(index, id)).status).toBe(200);
  });

  it('ends a session of the other replica', async () => {
    replicas.front.pin(0);
    const { sessionId } = await connect();
    const id = sessionId();
    expect((await ask(1, id, 'DELETE')).status).toBe(200);
    for (const index of BOTH) expect((await ask(index, id)).status).toBe(404);
  });

  it('stores one row per tool when both replicas see the same list', async () => {
    const listed = await Promise.all(Array.from({ length: 6 }, async () => (await connect()).client.listTools()));
    const [first] = listed;
    const names = first?.tools.map(({ name }) => name);
    const rows = async (): Promise<unknown[]> => (await admin.list(`${path}/tools`)).map(({ name }) => name);
    await eventually(async () => (await rows()).length === names?.length);
    expect(new Set(await rows())).toEqual(new Set(names));
  });

  it('stops calls of a tool on both replicas within ten seconds after it is disabled', async () => {
    const { sessionId } = await connect();
    const id = sessionId();
    for (const index of BOTH) expect((await ask(index, id)).text).toContain('hello');
    const isDenied = async (index: number): Promise<boolean> =>
      (await ask(index, id)).text.includes('Unknown tool: echo');
    replicas.front.pin(0);
    await admin.put(`${path}/tools`, { tools: [{ name: 'echo', enabled: false }] });
    expect(await isDenied(0)).toBe(true);
    await eventually(() => isDenied(1), 10_000);
    replicas.front.pin(1);
    await admin.put(`${path}/tools`, { tools: [{ name: 'echo', enabled: true }] });
    await eventually(async () => !(await isDenied(0)) && !(await isDenied(1)), 10_000);
  });

  it('continues a session when one replica is killed in the middle of a call', async () => {
    const { client } = await connect();
    await callTool(client, 'echo', { text: 'before' });
    replicas.front.pin(0);
    const started = sdk.slowCalls;
    const calling = callTool(client, 'slow', { ms: 2_000 }).then(
      () => 'answered',
      () => 'failed',
    );
    await eventually(() => sdk.slowCalls > started);
    // The client has the first event of the stream then, which it resumes after.
    await new Promise((resolve) => setTimeout(resolve, 500));
    replicas.front.pin();
    await replicas.kill(0);
    for (let each = 0; each < 6; each += 1) expect(await callTool(client, 'echo', { text: `${each}` })).toBe(`${each}`);
    // The stream of the call can be resumed, so that the other gateway answers even this one.
    expect(await calling).toBe('answered');
    await replicas.restart(0, OLD);
    const turns = replicas.front.turns.length;
    for (let each = 0; each < 4; each += 1) expect(await callTool(client, 'echo', { text: `${each}` })).toBe(`${each}`);
    expect(new Set(replicas.front.turns.slice(turns))).toEqual(new Set(BOTH));
  });

  it('loses no call when a replica shuts down, and ends its streams', async () => {
    const headers = { ...ACCEPT, ...VERSION, ...alice, 'mcp-session-id': await openSession() };
    replicas.front.pin(0);
    const stream = new EventReader(url, { method: 'GET', headers });
    await eventually(() => stream.status === 200);
    const before = sdk.requests.length;
    const calling = send(url, { headers, body: JSON.stringify(call('slow', { ms: 1_500 })) });
    await eventually(() => sdk.requests.length > before);
    expect(stream.hasEnded).toBe(false);
    const stopping = replicas.process(0);
    stopping.signal('SIGTERM');
    expect((await calling).text).toContain('after 1500');
    expect(await stopping.exitCode()).toBe(0);
    await eventually(() => stream.hasEnded);
    expect(stream.isWhole).toBe(true);
    await replicas.restart(0, OLD);
  });

  it('rotates the session secret replica by replica without ending sessions early', async () => {
    const old = (await connect()).sessionId();
    await replicas.restart(0, { MCP_SESSION_SECRETS: `${SECOND_SECRET},${FIRST_SECRET}` });
    await replicas.restart(1, { MCP_SESSION_SECRETS: `${FIRST_SECRET},${SECOND_SECRET}` });
    const fresh: string[] = [];
    for (const index of BOTH) {
      replicas.front.pin(index);
      fresh.push((await connect()).sessionId());
    }
    for (const index of BOTH) {
      for (const id of [old, ...fresh]) expect((await ask(index, id)).status).toBe(200);
    }
    await replicas.restart(1, { MCP_SESSION_SECRETS: SECOND_SECRET });
    expect((await ask(1, old)).status).toBe(404);
    expect(jsonOf(await ask(1, old))).toMatchObject({ error: { data: { code: 'not_found' } } });
    expect((await ask(1, fresh[0] ?? '')).status).toBe(200);
    expect((await ask(0, old)).status).toBe(200);
  });
});
