import { afterEach, describe, expect, it } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CallToolResultSchema,
  CreateMessageRequestSchema,
  ElicitRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '../../../test/support/eventually.js';
import { startMcpServer, type McpSdkServer, type McpSdkServerOptions } from '../../../test/support/mcp-servers.js';
import { startProxying, targetAt, type ProxyingServer } from './__fixtures__/proxying.js';

const opened: { close(): Promise<void> }[] = [];

function keep<Thing extends { close(): Promise<void> }>(thing: Thing): Thing {
  opened.push(thing);
  return thing;
}

afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

/** Two replicas in front of one server. */
async function start(options: McpSdkServerOptions = {}): Promise<{ server: McpSdkServer; replicas: ProxyingServer[] }> {
  const server = keep(await startMcpServer(options));
  const replica = async (): Promise<ProxyingServer> => keep(await startProxying(targetAt(server.endpoint)));
  return { server, replicas: [await replica(), await replica()] };
}

/** Sends every request to the next replica. */
function roundRobin(replicas: readonly ProxyingServer[]): typeof fetch {
  let turn = 0;
  return (input, init) => {
    turn += 1;
    const url = new URL(input instanceof Request ? input.url : input);
    url.port = String(replicas[turn % replicas.length]?.port);
    return fetch(url, init);
  };
}

async function connect(replicas: readonly ProxyingServer[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant',
    content: { type: 'text', text: 'hello' },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { name: 'Ada' } }));
  const [first] = replicas;
  if (!first) throw new Error('no replica');
  const transport = new StreamableHTTPClientTransport(first.endpoint, { fetch: roundRobin(replicas) });
  await client.connect(transport);
  return keep(client);
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = CallToolResultSchema.parse(await client.callTool({ name, arguments: args }));
  const [first] = content;
  return first?.type === 'text' ? first.text : '';
}

/** The client opens its stream by itself, some time after `initialize`. */
function untilListening(server: McpSdkServer): Promise<void> {
  return eventually(() => server.requests.some(({ method }) => method === 'GET'));
}

describe('the official client and server over two replicas in turns', () => {
  it.each([{ sessions: true }, { sessions: false }])('lists and calls tools over replicas (%j)', async (options) => {
    const { replicas } = await start(options);
    const client = await connect(replicas);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain('echo');
    expect(await call(client, 'echo', { text: 'Grüße 世界 😀' })).toBe('Grüße 世界 😀');
    expect(await client.callTool({ name: 'error' })).toMatchObject({ isError: true });
    expect(replicas.every(({ outcomes }) => outcomes.some(({ status }) => status === 200))).toBe(true);
  });

  it('ends a session over two replicas', async () => {
    const { server, replicas } = await start();
    const client = await connect(replicas);
    expect(server.sessions.size).toBe(1);
    const { transport } = client;
    if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
    expect(server.sessions.size).toBe(0);
  });

  it('forwards progress over two replicas without delay', async () => {
    const seen: number[] = [];
    // The server goes on when the client has its progress.
    const { replicas } = await start({ afterProgress: (progress) => eventually(() => seen.at(-1) === progress) });
    const client = await connect(replicas);
    const onprogress = ({ progress }: { progress: number }): void => void seen.push(progress);
    await client.callTool({ name: 'progress' }, CallToolResultSchema, { onprogress });
    expect(seen).toEqual([1, 2, 3]);
  });

  it.each(['post', 'get'])('lets a tool ask the model of the client over %s', async (over) => {
    const { server, replicas } = await start();
    const client = await connect(replicas);
    await untilListening(server);
    expect(JSON.parse(await call(client, 'sampling', { over }))).toMatchObject({ text: 'hello' });
  });

  it('lets a tool ask the user of the client', async () => {
    const { replicas } = await start();
    expect(JSON.parse(await call(await connect(replicas), 'elicitation'))).toEqual({ name: 'Ada' });
  });

  it('cancels a call at the server when the client cancels it', async () => {
    const { server, replicas } = await start();
    const client = await connect(replicas);
    const leaving = new AbortController();
    const calling = client.callTool({ name: 'slow', arguments: { ms: 20_000 } }, CallToolResultSchema, {
      signal: leaving.signal,
    });
    const failed = expect(calling).rejects.toThrow();
    await eventually(() => server.slowCalls === 1);
    leaving.abort();
    await failed;
    await eventually(() => server.cancelled === 1);
  });

  it('resumes a cut stream on the other replica', async () => {
    const { replicas } = await start({ resumable: true });
    const [first, second] = replicas;
    if (!first || !second) throw new Error('no replicas');
    const targets = [first];
    const client = await connect(targets);
    const progress: number[] = [];
    const calling = client.callTool({ name: 'progress' }, CallToolResultSchema, {
      onprogress: (event) => void progress.push(event.progress),
    });
    await eventually(() => progress.length === 1);
    // The client reconnects by itself.
    targets[0] = second;
    for (const socket of first.open) socket.destroy();
    expect(CallToolResultSchema.parse(await calling).content).toEqual([{ type: 'text', text: 'done' }]);
    expect(progress).toEqual([1, 2, 3]);
    expect(second.requests.map(({ headers }) => headers['last-event-id'])).toContainEqual(expect.any(String));
  });
});
