import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { GatewayError } from '../errors/gateway.error.js';
import { readBody, RequestAbortedError } from './read-body.js';

const LIMIT_BYTES = 1_000;

let server: Server;
let client: Socket;
let received: string;
/** Tells what each request came to: the body, or the error. */
let outcomes: EventEmitter;

beforeEach(async () => {
  received = '';
  outcomes = new EventEmitter();
  server = createServer((request, response) => {
    readBody(request, LIMIT_BYTES).then(
      (body) => response.end(`<${body.length}>`),
      (error: unknown) => {
        outcomes.emit('refused', error);
        if (error instanceof GatewayError) response.setHeaders(new Map(Object.entries(error.headers)));
        response.end('<refused>');
      },
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = connect(Object(server.address()).port, '127.0.0.1');
  client.on('data', (chunk) => (received += chunk.toString()));
  client.on('error', () => undefined);
  client.on('end', () => client.destroy(new Error('the server closed the connection')));
});

afterEach(async () => {
  client.destroy();
  await new Promise((closed) => server.close(closed));
});

/** Resolves when the client has read the text. */
async function seen(text: string): Promise<void> {
  while (!received.includes(text)) await once(client, 'data');
}

function head(framing: string): string {
  return `POST / HTTP/1.1\r\nhost: gateway\r\n${framing}\r\n\r\n`;
}

function chunk(length: number): string {
  return `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`;
}

describe('readBody', () => {
  it.each([
    ['announced', head(`content-length: ${LIMIT_BYTES}`) + 'x'.repeat(LIMIT_BYTES)],
    ['in pieces', head('transfer-encoding: chunked') + chunk(LIMIT_BYTES - 1) + chunk(1) + '0\r\n\r\n'],
  ])('reads a body as large as the limit: %s', async (_how, message) => {
    client.write(message);
    await seen(`<${LIMIT_BYTES}>`);
  });

  it('reads a body without content as empty', async () => {
    client.write(head('transfer-encoding: chunked') + '0\r\n\r\n');
    await seen('<0>');
  });

  it.each([
    ['announced', head('content-length: 5000') + 'x'.repeat(10), 'x'.repeat(4_990)],
    ['in pieces', head('transfer-encoding: chunked') + chunk(LIMIT_BYTES + 1), chunk(3_999) + '0\r\n\r\n'],
  ])(
    'refuses a larger one before it has come whole, and goes on with the connection: %s',
    async (_how, first, rest) => {
      const refused = once(outcomes, 'refused');
      client.write(first);
      await seen('<refused>');
      expect(await refused).toMatchObject([{ code: 'payload_too_large', status: 413 }]);
      client.write(rest + head('content-length: 3') + 'abc');
      await seen('<3>');
    },
  );

  it('tells a client that leaves before the end', async () => {
    const refused = once(outcomes, 'refused');
    client.write(head('content-length: 10') + 'x');
    await once(server, 'request');
    client.destroy();
    expect(await refused).toEqual([expect.any(RequestAbortedError)]);
  });
});
