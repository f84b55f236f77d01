// The deadline of a test, when everything that nothing holds is collected as garbage while a server is waited for.
import type { RequestListener, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { collectGarbage } from '../../../test/support/collect-garbage.js';
import { eventually } from '../../../test/support/eventually.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { NEVER_ABORTED, type ClientConnection } from '../../common/http/client-connection.js';
import { isObject } from '../../common/json/read.js';
import { FakeCaller } from '../../upstream/__fixtures__/calls.js';
import { type Loopback, startHttp } from '../../upstream/__fixtures__/loopback.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import type { McpTransport } from '../servers/mcp-server.types.js';
import { McpProbeClient, testTimeoutMs } from './probe-client.js';
import type { ProbeResult } from './probe.types.js';

const TIMEOUT_MS = 300;
/** Much longer than a busy machine takes beside the deadline. */
const HANGS_MS = 20_000;
const JSON_TYPE = { 'content-type': 'application/json' };
const EVENTS = { 'content-type': 'text/event-stream' };

type Silence = (response: ServerResponse) => unknown;

let server: Loopback;
let listener: RequestListener;

beforeAll(async () => {
  // The probe loads the official client at its first use, which takes longer than the deadline of these tests.
  await import('./handshake-client.js');
  server = await startHttp((request, response) => listener(request, response));
});

afterEach(async () => {
  await eventually(() => server.open.size === 0);
});

afterAll(async () => {
  await server.close();
});

/** A server that falls silent at one method, and answers those before it. */
function silentAt(
  method: string,
  fallSilent: Silence,
  answers: Readonly<Record<string, object>> = {},
): RequestListener {
  return (request, response) => {
    void (async () => {
      let text = '';
      for await (const chunk of request) text += String(chunk);
      const message: unknown = text === '' ? {} : JSON.parse(text);
      const { id, method: asked } = isObject(message) ? message : {};
      if (asked === method) {
        setTimeout(collectGarbage, 50);
        return fallSilent(response);
      }
      const result = answers[String(asked)];
      if (result === undefined) return response.writeHead(request.method === 'DELETE' ? 200 : 400).end();
      return response.writeHead(200, JSON_TYPE).end(JSON.stringify({ jsonrpc: '2.0', id, result }));
    })();
  };
}

async function test(
  transport: McpTransport = 'streamable_http',
  { caller = NEVER_ABORTED, timeoutMs = TIMEOUT_MS }: { caller?: ClientConnection; timeoutMs?: number } = {},
): Promise<ProbeResult> {
  const reach = new McpProbeClient(new EgressPolicy(['127.0.0.1']));
  const tooLate = new AbortController();
  const answer = reach.ask({ url: server.url('/mcp'), transport }, {}, caller, timeoutMs);
  const hang = sleep(HANGS_MS, undefined, tooLate).then(() => {
    throw new Error('it hangs');
  });
  return Promise.race([answer.finally(() => tooLate.abort()), hang]);
}

const SILENCES: readonly [string, Silence][] = [
  ['no head', () => undefined],
  ['no body', (response) => response.writeHead(200, JSON_TYPE).write(' ')],
  ['no event', (response) => response.writeHead(200, EVENTS).write(':\n\n')],
];
const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'silent', version: '1' },
};
const DISCOVERY = { supportedVersions: ['2026-07-28'], capabilities: { tools: {} } };

describe.each(SILENCES)(
  'McpProbeClient does not wait for a silent server longer than the deadline: %s',
  (_what, silence) => {
    it.each<[string, RequestListener]>([
      ['server/discover', silentAt('server/discover', silence)],
      ['tools/list without a handshake', silentAt('tools/list', silence, { 'server/discover': DISCOVERY })],
      ['initialize', silentAt('initialize', silence)],
      ['tools/list', silentAt('tools/list', silence, { initialize: HELLO, 'notifications/initialized': {} })],
    ])('when it is silent at %s', async (_method, silent) => {
      listener = silent;
      await expect(test()).rejects.toMatchObject({ code: 'provider_timeout' });
    });
  },
);

it.each<[string, Silence]>([
  ['no head', () => undefined],
  ['no event', (response) => response.writeHead(200, EVENTS).write(':\n\n')],
  ['no answer', (response) => response.writeHead(200, EVENTS).write('event: endpoint\ndata: /messages\n\n')],
])('McpProbeClient does not wait for a silent server of the older transport: %s', async (_what, silence) => {
  listener = (request, response) => {
    setTimeout(collectGarbage, 50);
    if (request.method === 'POST') response.writeHead(202).end();
    else silence(response);
  };
  await expect(test('sse')).rejects.toMatchObject({ code: 'provider_timeout' });
});

it('McpProbeClient finds a stateless server that ignores the handshake', async () => {
  const answers = { 'server/discover': DISCOVERY, 'tools/list': { tools: [{ name: 'echo' }] } };
  listener = silentAt('initialize', () => undefined, answers);
  await expect(test('streamable_http', { timeoutMs: 4_500 })).resolves.toMatchObject({
    era: 'modern',
    tools: [{ name: 'echo' }],
  });
});

describe('McpProbeClient stops when the client disconnects', () => {
  const LONG_MS = 60_000;

  it.each<McpTransport>(['streamable_http', 'sse'])('%s', async (transport) => {
    const caller = new FakeCaller();
    listener = () => caller.leave();
    await expect(test(transport, { caller, timeoutMs: LONG_MS })).rejects.toBeInstanceOf(GatewayError);
    expect(caller.listeners.size).toBe(0);
  });

  it('stops at once when the client disconnected before', async () => {
    const caller = new FakeCaller();
    caller.leave();
    const before = server.requests.length;
    await expect(test('streamable_http', { caller, timeoutMs: LONG_MS })).rejects.toBeInstanceOf(GatewayError);
    expect(server.requests).toHaveLength(before);
  });
});

it('testTimeoutMs gives a server that is configured as slow more time', () => {
  expect(testTimeoutMs({ timeouts: {} })).toBe(20_000);
  expect(testTimeoutMs({ timeouts: { first_byte_ms: 500 } })).toBe(20_000);
  expect(testTimeoutMs({ timeouts: { first_byte_ms: 90_000 } })).toBe(90_000);
});
