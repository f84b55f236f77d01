import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Dispatcher } from 'undici';
import { json, startRawMcpServer, type RawMcpServer } from '../../../test/support/mcp-raw-server.js';
import { NEVER_ABORTED } from '../../common/http/client-connection.js';
import { CallDeadline } from '../../upstream/call-deadline.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { McpDispatchers } from './mcp-dispatchers.js';

/** undici keeps its settings under symbols. */
function settingOf(thing: object, name: string): unknown {
  const symbol = Object.getOwnPropertySymbols(thing).find(({ description }) => description === name);
  if (symbol === undefined) throw new Error(`undici has no "${name}" any more`);
  return Reflect.get(thing, symbol);
}

function clientsOf(pool: object): readonly object[] {
  const clients = settingOf(pool, 'clients');
  return Array.isArray(clients) ? clients.map(Object) : [];
}

const NO_LIMITS = new CallDeadline({ timeoutMs: Infinity, caller: NEVER_ABORTED });

let server: RawMcpServer;
let dispatchers: McpDispatchers;

beforeAll(async () => {
  server = await startRawMcpServer();
  dispatchers = new McpDispatchers(new EgressPolicy(['127.0.0.1/32']), { connectTimeoutMs: 5_000 });
});

afterAll(async () => {
  await dispatchers.close();
  await server.close();
});

describe('a connection to an MCP server', () => {
  // The defaults of undici are five minutes each, and a stream may be silent for longer.
  const OFF = [
    ['headers timeout', 0],
    ['body timeout', 0],
  ] as const;

  it.each(OFF)('a connection for a stream has no %s', (name, value) => {
    const lease = dispatchers.forStream(server.endpoint);
    expect(settingOf(lease.dispatcher, name)).toBe(value);
    lease.release();
  });

  it.each(OFF)('a connection for a call has no %s, since its answer may be a stream', async (name, value) => {
    server.answerWith(json({}));
    const lease = await dispatchers.forCall(server.endpoint, undefined, NO_LIMITS);
    await requestOver(lease.dispatcher);
    const clients = clientsOf(lease.dispatcher);
    expect(new Set(clients.map((client) => settingOf(client, name)))).toEqual(new Set([value]));
    // This timeout concerns idle connections only.
    expect(settingOf(clients[0] ?? {}, 'default keep alive timeout')).toBe(4_000);
    lease.release();
  });

  it('opens no connection to an address that the egress rules refuse', () => {
    const refused = new URL('http://10.0.0.1/mcp');
    expect(() => dispatchers.forStream(refused)).toThrow('10.0.0.1');
    expect(() => dispatchers.forCall(refused, undefined, NO_LIMITS)).toThrow('10.0.0.1');
  });
});

async function requestOver(dispatcher: Dispatcher): Promise<void> {
  const { body } = await dispatcher.request({ path: '/mcp', method: 'POST', body: '{}' });
  await body.dump();
}
