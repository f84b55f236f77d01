import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { type Loopback, startHttp } from '../../upstream/__fixtures__/loopback.js';
import { afterBody } from './after-body.js';

const SIZE = 4 * 1024 * 1024;
let server: Loopback | undefined;

afterEach(() => server?.close());

/** The port of a server that refuses each request without a look at its body. */
async function start(answered: () => void = () => undefined): Promise<number> {
  server = await startHttp((incoming, response) => {
    afterBody(incoming, response, () => {
      answered();
      response.writeHead(401).end('no');
    });
  });
  return server.port;
}

function post(port: number): Promise<number | undefined> {
  return new Promise((done, fail) => {
    const headers = { 'content-length': SIZE, connection: 'close' };
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

/** The first bytes of a request whose body never comes whole. */
async function begin(port: number, connection = 'close'): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nhost: a\r\nconnection: ${connection}\r\ncontent-length: 9\r\n\r\nhalf`);
  await new Promise((connected) => socket.on('connect', connected));
  return socket;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

it.each([
  ['after the body', 'close', 0, 1],
  // Node reads on behind the answer then.
  ['at once where the connection goes on', 'keep-alive', 1, 1],
])('answers %s', async (_when, connection, early, late) => {
  let answers = 0;
  const port = await start(() => (answers += 1));
  const socket = await begin(port, connection);
  await pause(100);
  expect(answers).toBe(early);
  socket.write('whole');
  const answer = await new Promise<string>((got) => socket.on('data', (data) => got(data.toString())));
  expect(answer).toMatch(/^HTTP\/1.1 401 /);
  expect(answers).toBe(late);
  socket.destroy();
});

it('lets clients have their answer that send all they have first', async () => {
  const port = await start();
  for (let each = 0; each < 10; each += 1) expect(await post(port)).toBe(401);
});

it('does not wait for ever for a body that stops coming', async () => {
  const port = await start();
  const socket = await begin(port);
  const answer = await new Promise<string>((got) => socket.on('data', (data) => got(data.toString())));
  expect(answer).toMatch(/^HTTP\/1.1 401 /);
  socket.destroy();
});

it('answers nobody who has left', async () => {
  let answers = 0;
  const port = await start(() => (answers += 1));
  const socket = await begin(port);
  socket.destroy();
  await pause(1_200);
  expect(answers).toBe(0);
});
