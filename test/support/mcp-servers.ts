import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport, type EventStore } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CreateMessageResultSchema, ElicitResultSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { startHttp, type Loopback } from '../../src/upstream/__fixtures__/loopback.js';

const PROGRESS_INTERVAL_MS = 300;

export interface McpSdkServer extends Loopback {
  readonly endpoint: URL;
  /** Ids of the open sessions. */
  readonly sessions: ReadonlySet<string>;
  /** The number of begun calls of the tool `slow`. */
  readonly slowCalls: number;
  /** The number of cancelled calls of the tool `slow`. */
  readonly cancelled: number;
  /** Closes the server and its sessions. */
  close(): Promise<void>;
}

export interface McpSdkServerOptions {
  /** Without sessions, every request gets a new server. Default true. */
  readonly sessions?: boolean;
  /** Events have ids and can be replayed. Default false. */
  readonly resumable?: boolean;
  /** Creates another server than the one of this file, one per session. */
  readonly create?: () => McpServer;
  /** Refuses other host names than this machine's, as a server on a developer's machine must. Default false. */
  readonly checksHost?: boolean;
  /** The revision of every request, regardless of its header. */
  readonly revision?: string;
  /** What the tool `progress` waits for after each notification. By default, for some time. */
  readonly afterProgress?: (progress: number) => Promise<unknown>;
}

/** A server of the official SDK at `/mcp`, whose tools use the features of the protocol. */
export async function startMcpServer(options: McpSdkServerOptions = {}): Promise<McpSdkServer> {
  const seen: Seen = { slowCalls: 0, cancelled: 0 };
  const afterProgress = options.afterProgress ?? (() => sleep(PROGRESS_INTERVAL_MS));
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const eventStore = options.resumable ? new MemoryEventStore() : undefined;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (options.revision !== undefined) setRevision(request, options.revision);
    const id = request.headers['mcp-session-id'];
    const known = typeof id === 'string' ? transports.get(id) : undefined;
    if (id !== undefined && !known) return void response.writeHead(404).end('{"error":"unknown session"}');
    const transport = known ?? (await open());
    await transport.handleRequest(request, response);
  };
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const transport = new StreamableHTTPServerTransport({
      ...(options.sessions === false ? {} : { sessionIdGenerator: randomUUID }),
      ...(eventStore ? { eventStore, retryInterval: 50 } : {}),
      ...(options.checksHost
        ? { enableDnsRebindingProtection: true, allowedHosts: [new URL(server.origin).host] }
        : {}),
      onsessioninitialized: (sessionId) => void transports.set(sessionId, transport),
      onsessionclosed: (sessionId) => void transports.delete(sessionId),
    });
    await (options.create?.() ?? createServer(seen, afterProgress)).connect(transport);
    return transport;
  };

  const server = await startHttp((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  return Object.defineProperties(
    {
      ...server,
      endpoint: server.url('/mcp'),
      sessions: new Set<string>(),
      slowCalls: 0,
      cancelled: 0,
      close: async () => {
        await Promise.all([...transports.values()].map((transport) => transport.close()));
        await server.close();
      },
    },
    {
      sessions: { get: () => new Set(transports.keys()) },
      slowCalls: { get: () => seen.slowCalls },
      cancelled: { get: () => seen.cancelled },
      connections: { get: () => server.connections },
    },
  );
}

/** The place where the SDK reads it. */
function setRevision({ rawHeaders }: IncomingMessage, revision: string): void {
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'mcp-protocol-version');
  if (at >= 0) rawHeaders[at + 1] = revision;
}

interface Seen {
  slowCalls: number;
  cancelled: number;
}

function createServer(seen: Seen, afterProgress: (progress: number) => Promise<unknown>): McpServer {
  const server = new McpServer({ name: 'fixture', version: '1.0.0' }, { capabilities: { logging: {} } });
  const text = (value: string): { content: { type: 'text'; text: string }[] } => ({
    content: [{ type: 'text', text: value }],
  });

  server.registerTool('echo', { inputSchema: { text: z.string() } }, (args) => text(args.text));

  server.registerTool('error', {}, () => {
    throw new Error('the tool failed');
  });

  server.registerTool('progress', {}, async (extra) => {
    const progressToken = extra._meta?.progressToken ?? 0;
    for (let progress = 1; progress <= 3; progress += 1) {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 3 },
      });
      await afterProgress(progress);
    }
    return text('done');
  });

  server.registerTool('slow', { inputSchema: { ms: z.number() } }, async ({ ms }, extra) => {
    seen.slowCalls += 1;
    await sleep(ms, undefined, { signal: extra.signal }).catch((error: unknown) => {
      seen.cancelled += 1;
      throw error;
    });
    return text(`after ${ms}`);
  });

  const prompt = {
    messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Say hello' } }],
    maxTokens: 10,
  };
  // On the stream of the call, or on the one that the client has opened with GET.
  server.registerTool('sampling', { inputSchema: { over: z.enum(['post', 'get']) } }, async ({ over }, extra) => {
    const { content } =
      over === 'get'
        ? await server.server.createMessage(prompt)
        : await extra.sendRequest({ method: 'sampling/createMessage', params: prompt }, CreateMessageResultSchema);
    return text(JSON.stringify(content));
  });

  server.registerTool('elicitation', {}, async (extra) => {
    const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } } };
    const answer = await extra.sendRequest(
      { method: 'elicitation/create', params: { message: 'Who are you?', requestedSchema } },
      ElicitResultSchema,
    );
    return text(JSON.stringify(answer.content ?? answer.action));
  });
  return server;
}

/** Event ids name their stream, so that events of one stream are never replayed on another. */
class MemoryEventStore implements EventStore {
  readonly #events: { readonly id: string; readonly streamId: string; readonly message: JSONRPCMessage }[] = [];

  storeEvent(streamId: string, message: JSONRPCMessage): Promise<string> {
    const id = `${streamId}_${this.#events.length}`;
    this.#events.push({ id, streamId, message });
    return Promise.resolve(id);
  }

  getStreamIdForEventId(eventId: string): Promise<string | undefined> {
    return Promise.resolve(this.#events.find(({ id }) => id === eventId)?.streamId);
  }

  async replayEventsAfter(
    lastEventId: string,
    { send }: { send: (eventId: string, message: JSONRPCMessage) => Promise<void> },
  ): Promise<string> {
    const last = this.#events.findIndex(({ id }) => id === lastEventId);
    const streamId = this.#events[last]?.streamId ?? '';
    for (const event of this.#events.slice(last + 1)) {
      // A priming event contains no message.
      if (event.streamId === streamId && 'jsonrpc' in event.message) await send(event.id, event.message);
    }
    return streamId;
  }
}
