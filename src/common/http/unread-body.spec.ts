import { createServer, type RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { UnreadBodies } from './unread-body.js';

const HEAD = 'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n';
/** Java's HTTP client begins so. */
const UPGRADE = 'GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\n\r\n';
const LIMITS = { maxBytes: 4 * 1024 * 1024, maxMs: 300 };
const NEXT = 'GET /next HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';

/** A server that answers without reading bodies, and limits what is left of them. */
async function startServer(limits: typeof LIMITS): Promise<{ readonly port: number; close(): void }> {
  const unread = new UnreadBodies(limits);
  const answer: RequestListener = (request, response) => {
    unread.follow(request, response);
    response.writeHead(401, { 'content-length': 2 }).end('no');
  };
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { port: Number(Object(server.address()).port), close: () => void server.close() };
}

interface Exchange {
  readonly answer: string;
  readonly closedAfterMs: number;
}

/** Sends a head, and lets `send` go on until the server closes the connection. */
async function exchange(send: (socket: Socket) => void, limits = LIMITS, head = HEAD): Promise<Exchange> {
  const server = await startServer(limits);
  const startedAt = Date.now();
  let answer = '';
  const socket = connect(server.port, '127.0.0.1', () => socket.write(head));
  socket.on('error', () => undefined).on('data', (chunk) => (answer += chunk.toString()));
  socket.once('data', () => send(socket));
  await new Promise<void>((closed) => socket.once('close', () => closed()));
  server.close();
  return { answer, closedAfterMs: Date.now() - startedAt };
}

function sendForEver(socket: Socket): void {
  const chunk = `4000\r\n${' '.repeat(0x4000)}\r\n`;
  const pump = (): void => {
    if (socket.destroyed) return;
    if (socket.write(chunk)) setImmediate(pump);
    else socket.once('drain', pump);
  };
  pump();
}

describe('a body that is received and discarded', () => {
  it('ends the connection of a client that sends without end', async () => {
    const { answer } = await exchange(sendForEver);
    expect(answer).toContain('401');
  });

  it('ends the connection of a client that sends one byte at a time', async () => {
    const { answer, closedAfterMs } = await exchange((socket) => {
      const drip = setInterval(() => socket.write('1\r\n \r\n'), 20);
      socket.once('close', () => clearInterval(drip));
    });
    expect(answer).toContain('401');
    expect(closedAfterMs).toBeGreaterThanOrEqual(LIMITS.maxMs);
  });

  it('keeps the connection when the body ends within the limits, and counts the next body for itself', async () => {
    // Larger than what waits unread in a connection, so that the server has to go on reading.
    const body = `300000\r\n${' '.repeat(0x300000)}\r\n0\r\n\r\n`;
    const answerTo = (socket: Socket): void => {
      socket.write(body);
      let answers = 1;
      socket.on('data', () => {
        answers += 1;
        socket.write(answers < 4 ? HEAD + body : NEXT);
      });
      socket.write(HEAD + body);
    };
    const { answer } = await exchange(answerTo, { ...LIMITS, maxMs: 60_000 });
    expect(answer.match(/401/g)?.length).toBeGreaterThanOrEqual(4);
    expect(answer).toContain('onnection: close');
  });

  it('ends the connection when what follows a request for another protocol is not HTTP', async () => {
    const { answer } = await exchange(sendForEver, LIMITS, UPGRADE);
    expect(answer.match(/401/g)).toHaveLength(1);
  });

  it('keeps the connection of a client that would rather have another protocol', async () => {
    const limits = { ...LIMITS, maxMs: 50 };
    const sendLater = (socket: Socket): void => {
      setTimeout(() => socket.write(UPGRADE), limits.maxMs * 3);
      socket.once('data', () => setTimeout(() => socket.write(NEXT), limits.maxMs * 3));
    };
    const { answer } = await exchange(sendLater, limits, UPGRADE);
    expect(answer.match(/401/g)).toHaveLength(3);
  });
});
