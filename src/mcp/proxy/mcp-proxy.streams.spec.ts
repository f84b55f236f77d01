import { request as httpRequest, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import {
  json,
  large,
  type RawMcpServer,
  silentEvents,
  startRawMcpServer,
} from '../../../test/support/mcp-raw-server.js';
import { send } from '../../../test/support/send.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { type ProxyingOptions, type ProxyingServer, startProxying, targetAt } from './__fixtures__/proxying.js';

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}';
const REFUSAL = new GatewayError('api_key_invalid', { headers: { 'www-authenticate': 'Bearer' } });

let server: RawMcpServer;
const opened: { close(): Promise<void> }[] = [];
/** The functions that end the open streams. */
let ends: Set<(reason: GatewayError) => void>;

beforeEach(async () => {
  ends = new Set();
  server = await startRawMcpServer();
  opened.push(server);
});

afterEach(async () => {
  for (const thing of opened.splice(0).reverse()) await thing.close();
});

async function start(options: ProxyingOptions = {}): Promise<ProxyingServer> {
  const onStream = (end: (reason: GatewayError) => void) => {
    ends.add(end);
    return () => void ends.delete(end);
  };
  const gateway = await startProxying(targetAt(server.endpoint), {
    change: () => ({ hooks: { onStream } }),
    ...options,
  });
  opened.push(gateway);
  return gateway;
}

function open(gateway: ProxyingServer, method: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asking = httpRequest(gateway.endpoint, { method, headers: { 'content-type': 'application/json' } });
    asking.on('error', reject).on('response', resolve);
    asking.end(method === 'POST' ? CALL : undefined);
  });
}

function endAll(): void {
  for (const end of ends) end(REFUSAL);
}

describe('McpProxy: ending a stream', () => {
  it.each(['GET', 'POST'])('ends a %s stream on both sides, and the client sees a complete answer', async (method) => {
    server.answerWith((incoming, response) => {
      silentEvents(incoming, response);
      response.write('data: 1\n\n');
    });
    const gateway = await start();
    const answer = await open(gateway, method);
    const [first] = await once(answer, 'data');
    expect([String(first), ends.size]).toEqual(['data: 1\n\n', 1]);
    endAll();
    await once(answer, 'end');
    expect(answer.complete).toBe(true);
    await eventually(() => server.received[0]?.closedEarlyAt !== undefined && gateway.outcomes.length === 1);
    expect(gateway.outcomes).toMatchObject([{ status: 200, error: REFUSAL }]);
    expect(ends.size).toBe(0);
  });

  it('cuts the connection of a client that does not read, 10 seconds after its stream was ended', async () => {
    let isFull = false;
    server.answerWith((incoming, response) => {
      silentEvents(incoming, response);
      const piece = `data: ${'x'.repeat(60_000)}\n\n`;
      const fill = (): void => {
        while (response.write(piece));
        const { writableLength } = response;
        setTimeout(() => (isFull = response.writableLength === writableLength), 200);
      };
      fill();
      response.on('drain', fill);
    });
    const sockets: Socket[] = [];
    const gateway = await start({
      change: ({ socket }) => {
        sockets.push(socket);
        return { hooks: { onStream: (end) => (ends.add(end), () => void ends.delete(end)) } };
      },
    });
    const answer = await open(gateway, 'GET');
    await eventually(() => isFull);
    jest.useFakeTimers({
      doNotFake: ['setImmediate', 'setInterval', 'nextTick', 'queueMicrotask', 'Date', 'performance'],
    });
    try {
      endAll();
      jest.advanceTimersByTime(9_999);
      expect(sockets[0]?.destroyed).toBe(false);
      jest.advanceTimersByTime(1);
      expect(sockets[0]?.destroyed).toBe(true);
    } finally {
      jest.useRealTimers();
      answer.destroy();
    }
  });

  it('returns the reason when a stream is ended before its head has come', async () => {
    server.answerWith(() => undefined);
    const gateway = await start();
    const answer = open(gateway, 'GET');
    await eventually(() => server.received.length === 1);
    endAll();
    expect(await answer).toMatchObject({ statusCode: 401, headers: { 'www-authenticate': 'Bearer' } });
  });

  it('does not keep answers that are not streams, or streams that are over', async () => {
    server.answerWith((_incoming, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end());
    const gateway = await start();
    await send(gateway.endpoint.href, { body: CALL });
    await send(gateway.endpoint.href, { method: 'GET' });
    expect(ends.size).toBe(0);
    server.answerWith((_incoming, response) => {
      expect(ends.size).toBe(0);
      json({})(_incoming, response);
    });
    expect((await send(gateway.endpoint.href, { body: CALL })).status).toBe(200);
  });
});

describe('McpProxy: a client that disappears', () => {
  it.each([
    ['GET', silentEvents, 1],
    ['POST', silentEvents, 1],
    ['POST', json({}), 0],
  ])('probes a client by TCP only while its stream is open: %s', async (method, listener, times) => {
    server.answerWith(listener);
    const probes: unknown[] = [];
    const gateway = await start({
      change: ({ socket }) => {
        const setKeepAlive = socket.setKeepAlive.bind(socket);
        socket.setKeepAlive = (...given) => {
          probes.push(given);
          return setKeepAlive(...given);
        };
        return {};
      },
    });
    const answer = await open(gateway, method);
    expect(probes).toEqual(Array.from({ length: times }, () => [true, 30_000]));
    answer.destroy();
  });
});

describe('McpProxy: calls in flight', () => {
  it('limits the calls in flight of one caller, whether their answers are streams or not', async () => {
    const gateway = await start({ callsPerCaller: 2 });
    server.answerWith(silentEvents);
    const first = await open(gateway, 'POST');
    await open(gateway, 'POST');
    const refused = await send(gateway.endpoint.href, { body: CALL });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(server.received).toHaveLength(2);
    // GET streams are counted separately.
    expect((await open(gateway, 'GET')).statusCode).toBe(200);
    first.destroy();
    await eventually(() => gateway.outcomes.length === 1);
    server.answerWith(json({}));
    expect((await send(gateway.endpoint.href, { body: CALL })).status).toBe(200);
  });
});

it('sends a large answer at the pace of its client, not of the turns of the event loop', async () => {
  const bytes = 4 * 1024 * 1024;
  server.answerWith(large(bytes, undefined, Buffer.alloc(1024, 'x'), 'application/json'));
  const gateway = await start();
  let turns = 0;
  let isOver = false;
  const countTurns = (): void => {
    turns += 1;
    if (!isOver) setImmediate(countTurns);
  };
  countTurns();
  const { text } = await send(gateway.endpoint.href, { headers: { 'content-type': 'application/json' }, body: CALL });
  isOver = true;
  expect(text).toHaveLength(bytes);
  // One turn per 16 KiB would make 256.
  expect(turns).toBeLessThan(200);
});
