// Requests that follow an unanswered request on a connection that ends.
import { randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { silentEvents } from './support/mcp-raw-server.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { requestLine } from './support/request-line.js';
import { send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const STREAMS = 4;

const mcp = rawMcpGateway({ MCP_STREAMS_PER_CALLER: String(STREAMS) });

/** Sends the requests at once, and disconnects when `mayLeave` allows it. */
async function sendAndLeave(requests: readonly string[], mayLeave: () => Promise<boolean>): Promise<void> {
  const socket = connect(Number(new URL(mcp.gateway.url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(requests.join(''));
  await eventually(mayLeave);
  socket.resetAndDestroy();
}

function get(path: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ host: new URL(mcp.gateway.url).host, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

async function gauge(name: string): Promise<number> {
  const { text } = await send(`${mcp.gateway.url}/metrics`, { method: 'GET' });
  return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm').exec(text)?.[1]);
}

describe('pipelined requests whose client disconnects', () => {
  it('releases the stream slots of pipelined requests and logs each one', async () => {
    const slug = await mcp.register();
    mcp.raw.answerWith(silentEvents);
    const headers = { 'x-gateway-api-key': ADMIN_KEY, accept: 'text/event-stream' };
    const ids = Array.from({ length: STREAMS }, () => randomUUID());
    const streams = ids.map((id) => get(`/${slug}/mcp`, { ...headers, 'x-gateway-trace-id': id }));
    await sendAndLeave(streams, async () => (await gauge('gateway_mcp_open_streams')) === STREAMS);
    await eventually(async () => (await gauge('gateway_mcp_open_streams')) === 0);
    // The request of the metrics themselves.
    expect(await gauge('gateway_in_flight_requests')).toBe(1);
    for (const id of ids) expect(await requestLine(mcp.gateway, id)).toMatchObject({ route: '/:server/mcp' });
  });

  it('releases pipelined requests without a key after a disconnect', async () => {
    const slug = await mcp.register();
    mcp.raw.answerWith(silentEvents);
    const first = get(`/${slug}/mcp`, { 'x-gateway-api-key': ADMIN_KEY, accept: 'text/event-stream' });
    const others = Array.from({ length: 50 }, () => get('/v1/batches'));
    await sendAndLeave([first, ...others], async () => (await gauge('gateway_in_flight_requests')) > 50);
    await eventually(async () => (await gauge('gateway_in_flight_requests')) === 1);
  });
});
