import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { type Loopback, startHttp } from '../../upstream/__fixtures__/loopback.js';
import { afterBody } from './closing-answers.js';

const SIZE = 4 * 1024 * 1024;
const CLOSE = { connection: 'close' };

let server: Loopback | undefined;

afterEach(() => server?.close());

interface Refusals {
  readonly port: number;
  /** Per request, whether the answer came before the rest of its body. */
  readonly atOnce: readonly boolean[];
}

/** A server that refuses each request without reading its body. */
async function start(headers: Readonly<Record<string, string>> = {}): Promise<Refusals> {
  const atOnce: boolean[] = [];
  const { port } = (server = await startHttp((incoming, response) => {
    response.setHeaders(new Map(Object.entries(headers)));
    afterBody(incoming, response, () => response.writeHead(401).end('no'));
    setImmediate(() => atOnce.push(response.headersSent));
  }));
  return { port, atOnce };
}

function post(port: number): Promise<number | undefined> {
  return new Promise((done, fail) => {
    const headers = { 'content-length': SIZE, ...CLOSE };
    const outgoing = request({ host: '127.0.0.1', port, method: 'POST', agent: false, headers });
    outgoing.on('response', (incoming) => {
      incoming.resume();
      incoming.on('end', () => {
        outgoing.destroy();
        done(incoming.statusCode);
      });
    });
    outgoing.on('error', fail);
    outgoing.end(Buffer.alloc(SIZE));
  });
}

/** Sends the first bytes of a request whose body is incomplete. */
async function begin(port: number, head: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nhost: a\r\n${head}\r\n\r\nhalf`);
  await new Promise((connected) => socket.on('connect', connected));
  return socket;
}

function answerOn(socket: Socket): Promise<string> {
  return new Promise((got) => socket.on('data', (data) => got(data.toString())));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

it.each([
  ['connection: close\r\ncontent-length: 9', {}],
  ['content-length: 9', CLOSE],
])('answers after the body when the connection closes: %j %j', async (head, headers) => {
  const { port, atOnce } = await start(headers);
  const socket = await begin(port, head);
  await pause(50);
  socket.write('whole');
  expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 401 /);
  expect(atOnce).toEqual([false]);
  socket.destroy();
});

it.each([
  ['the connection goes on', 'connection: keep-alive\r\ncontent-length: 9'],
  ['its end is too far away', 'connection: close\r\ncontent-length: 900000000'],
])('answers immediately when %s', async (_where, head) => {
  const { port, atOnce } = await start();
  const socket = await begin(port, head);
  expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 401 /);
  expect(atOnce).toEqual([true]);
  socket.destroy();
});

it('answers clients that send their whole body first', async () => {
  const { port } = await start();
  for (let each = 0; each < 10; each += 1) expect(await post(port)).toBe(401);
});

it('stops waiting for a body that becomes silent', async () => {
  const { port } = await start();
  const socket = await begin(port, 'connection: close\r\ncontent-length: 9');
  expect(await answerOn(socket)).toMatch(/^HTTP\/1.1 401 /);
  socket.destroy();
});

it('sends no answer to a client that has disconnected', async () => {
  let answers = 0;
  server = await startHttp((incoming, response) => afterBody(incoming, response, () => (answers += 1)));
  const socket = await begin(server.port, 'connection: close\r\ncontent-length: 9');
  socket.destroy();
  await pause(1_200);
  expect(answers).toBe(0);
});
