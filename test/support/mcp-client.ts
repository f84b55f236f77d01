import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface ConnectedClient {
  readonly client: Client;
  readonly transport: StreamableHTTPClientTransport;
  /** The session id that the gateway sent. */
  readonly sessionId: () => string;
  readonly close: () => Promise<void>;
}

/** The official client, connected to an address of the gateway with these headers on every request. */
export async function connectClient(url: string, headers: Readonly<Record<string, string>>): Promise<ConnectedClient> {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const client = newClient();
  await client.connect(transport);
  return {
    client,
    transport,
    sessionId: () => transport.sessionId ?? '',
    close: () => client.close(),
  };
}

/** The official client over the SSE transport. */
export async function connectLegacyClient(url: string, headers: Readonly<Record<string, string>>): Promise<Client> {
  const withHeaders: typeof fetch = (input, init) => {
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return fetch(input, { ...init, headers: all });
  };
  const client = newClient();
  await client.connect(
    new SSEClientTransport(new URL(url), { fetch: withHeaders, eventSourceInit: { fetch: withHeaders } }),
  );
  return client;
}

function newClient(): Client {
  return new Client({ name: 'test', version: '1.0.0' });
}

/** Text of a tool's answer. */
export async function callTool(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args });
  const [first]: readonly unknown[] = Array.isArray(content) ? content : [];
  return String(Object(first).text);
}
