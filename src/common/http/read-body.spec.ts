import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { GatewayError } from '../errors/gateway.error.js';
import { type BodyLimits, readBody, RequestAbortedError } from './read-body.js';

const LIMIT_BYTES = 1_000;
const LIMITS = { maxBytes: LIMIT_BYTES, totalMs: 300_000, silenceMs: 30_000, maxDiscardedBytes: 9_000 };

let limits: BodyLimits;
let server: Server;
let client: Socket;
let received: string;
/** Emits the result of each request: the body or the error. */
let outcomes: EventEmitter;
let readBytes: number;

beforeEach(async () => {
  limits = LIMITS;
  received = '';
  outcomes = new EventEmitter();
  readBytes = 0;
  server = createServer((request, response) => {
    request.on('data', (piece: Buffer) => outcomes.emit('read', (readBytes += piece.length)));
    Promise.resolve(readBody(request, limits)).then(
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

/** Resolves when the server has taken this much of the bodies from its connection. */
async function untilRead(bytes: number): Promise<void> {
  while (readBytes < bytes) await once(outcomes, 'read');
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
  ])('reads a body of exactly the limit: %s', async (_how, message) => {
    client.write(message);
    await seen(`<${LIMIT_BYTES}>`);
  });

  it('holds few objects for a body that arrives byte by byte', async () => {
    const concat = jest.spyOn(Buffer, 'concat');
    client.write(head('transfer-encoding: chunked') + chunk(1).repeat(LIMIT_BYTES) + '0\r\n\r\n');
    await seen(`<${LIMIT_BYTES}>`);
    const pieces = concat.mock.calls.map(([list]) => list.length);
    concat.mockRestore();
    expect(Math.max(...pieces)).toBeLessThan(10);
  });

  it('reads a body without content as empty', async () => {
    client.write(head('transfer-encoding: chunked') + '0\r\n\r\n');
    await seen('<0>');
  });

  it.each([
    ['announced', head('content-length: 5000') + 'x'.repeat(3_000), 'x'.repeat(2_000)],
    ['in pieces', head('transfer-encoding: chunked') + chunk(3_000), chunk(2_000) + '0\r\n\r\n'],
    [
      'by a client that wants to be cut off afterwards',
      head('content-length: 5000\r\nconnection: close') + 'x'.repeat(3_000),
      'x'.repeat(2_000),
    ],
  ])('refuses a larger body after its end: %s', async (_how, first, rest) => {
    const refused = once(outcomes, 'refused');
    const handled = once(server, 'request');
    client.write(first);
    await handled;
    await untilRead(3_000);
    expect(received).toBe('');
    client.write(rest);
    await seen('<refused>');
    expect(await refused).toMatchObject([{ code: 'payload_too_large', status: 413 }]);
  });

  it('keeps the connection open after a refusal', async () => {
    client.write(head('content-length: 5000') + 'x'.repeat(5_000) + head('content-length: 3') + 'abc');
    await seen('<refused>');
    await seen('<3>');
  });

  it.each([
    ['announced', head('content-length: 10001')],
    ['in pieces', head('transfer-encoding: chunked') + chunk(10_001)],
  ])('refuses a body that is far too large immediately: %s', async (_how, first) => {
    client.write(first);
    await seen('<refused>');
  });

  it('rejects when the client disconnects before the end', async () => {
    const refused = once(outcomes, 'refused');
    client.write(head('content-length: 10') + 'x');
    await once(server, 'request');
    client.destroy();
    expect(await refused).toEqual([expect.any(RequestAbortedError)]);
  });

  it.each([
    ['nothing of it', '', 0],
    ['a part of it', 'x'.repeat(9), 9],
    ['a part of one that is too large', 'x'.repeat(1_500), 1_500],
  ])('gives up a silent body and closes the connection: %s arrived', async (_what, part, bytes) => {
    limits = { ...LIMITS, silenceMs: 200 };
    const refused = once(outcomes, 'refused');
    const ended = new Promise((resolve) => client.on('close', resolve));
    client.write(head('content-length: 2000') + part);
    expect(await refused).toMatchObject([{ code: 'request_timeout', status: 408, readBytes: bytes }]);
    await ended;
    expect(received).toContain('<refused>');
  });

  it('gives up a body that never ends', async () => {
    limits = { ...LIMITS, totalMs: 200 };
    const dribble = setInterval(() => client.write(chunk(1)), 10);
    const refused = once(outcomes, 'refused');
    client.write(head('transfer-encoding: chunked') + chunk(1));
    expect(await refused).toMatchObject([{ code: 'request_timeout' }]);
    clearInterval(dribble);
  });

  describe('with a mocked clock', () => {
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
    });
    afterEach(() => void jest.useRealTimers());

    /** Resolves when so much of the body has arrived, and a timer for the rest is set. */
    async function untilWaiting(bytes: number): Promise<void> {
      await untilRead(bytes);
      await new Promise((resolve) => setImmediate(resolve));
    }

    it('waits for a slow body', async () => {
      client.write(head('content-length: 10') + 'x');
      for (let bytes = 1; bytes < 10; bytes += 1) {
        await untilWaiting(bytes);
        jest.advanceTimersByTime(29_999);
        client.write('x');
      }
      await seen('<10>');
      expect(jest.getTimerCount()).toBe(0);
    });

    it('stops waiting at the total time limit', async () => {
      const refused = once(outcomes, 'refused');
      client.write(head('content-length: 100') + 'x');
      for (let bytes = 1; bytes <= 10; bytes += 1) {
        await untilWaiting(bytes);
        jest.advanceTimersByTime(29_999);
        client.write('x');
      }
      await untilWaiting(11);
      expect(received).toBe('');
      jest.advanceTimersByTime(10);
      expect(await refused).toMatchObject([{ code: 'request_timeout', readBytes: 11 }]);
      expect(jest.getTimerCount()).toBe(0);
    });

    it.each([
      ['left', (): unknown => client.destroy()],
      ['sent far too much', (): unknown => client.write(chunk(10_001))],
    ])('does not wait for a body whose client has %s', async (_how, act) => {
      const refused = once(outcomes, 'refused');
      client.write(head('transfer-encoding: chunked') + chunk(1));
      await untilWaiting(1);
      expect(jest.getTimerCount()).toBe(2);
      act();
      await refused;
      expect(jest.getTimerCount()).toBe(0);
    });

    it('needs no timer for a body that has arrived', async () => {
      const setTimer = jest.spyOn(globalThis, 'setTimeout');
      client.write(head('content-length: 3') + 'abc');
      await seen('<3>');
      const timed = setTimer.mock.calls.map(([, milliseconds]) => milliseconds);
      setTimer.mockRestore();
      expect(timed).not.toContain(30_000);
    });
  });
});

describe('readBody of a body that has already arrived', () => {
  interface Late {
    /** Lengths of the bodies that were read at once; undefined for others. */
    readonly atOnce: readonly (number | undefined)[];
    /** Sends a request and resolves with the answer's body; the request is read in the turn after the one in which it came. */
    ask(body: string, framing?: string): Promise<string>;
    readonly socket: Socket;
    close(): void;
  }

  async function startLate(): Promise<Late> {
    const atOnce: (number | undefined)[] = [];
    const late = createServer((request, response) => {
      setImmediate(() => {
        const body = readBody(request, limits);
        atOnce.push(body instanceof Promise ? undefined : body.length);
        Promise.resolve(body).then(
          (bytes) => response.end(bytes),
          (error: unknown) => response.end(error instanceof GatewayError ? error.code : 'failed'),
        );
      });
    });
    await once(late.listen(0, '127.0.0.1'), 'listening');
    const { port } = Object(late.address());
    const socket = connect(port, '127.0.0.1');
    const ask = async (body: string, framing = `content-length: ${body.length}`): Promise<string> => {
      socket.write(`${head(framing)}${body}`);
      const [answer]: unknown[] = await once(socket, 'data');
      return String(answer).split('\r\n\r\n')[1] ?? '';
    };
    return { atOnce, ask, socket, close: () => socket.destroy() && late.close() };
  }

  it.each([
    ['with its length', 'abc', undefined],
    ['in chunks', '2\r\nab\r\n1\r\nc\r\n0\r\n\r\n', 'transfer-encoding: chunked'],
  ])(
    'reads an arrived body synchronously, and the next one on the connection too: %s',
    async (_name, body, framing) => {
      const late = await startLate();
      for (let time = 0; time < 3; time += 1) expect(await late.ask(body, framing)).toContain('abc');
      expect(late.atOnce).toEqual([3, 3, 3]);
      late.close();
    },
  );

  it('reads an empty body synchronously', async () => {
    const late = await startLate();
    await late.ask('0\r\n\r\n', 'transfer-encoding: chunked');
    await late.ask('');
    expect(late.atOnce).toEqual([0, 0]);
    late.close();
  });

  it('reads an arrived body up to the limit, and refuses a larger one', async () => {
    const late = await startLate();
    expect(await late.ask('x'.repeat(LIMIT_BYTES))).toContain('xxx');
    expect(await late.ask('x'.repeat(LIMIT_BYTES + 1))).toContain('payload_too_large');
    expect(await late.ask('abc')).toContain('abc');
    expect(late.atOnce).toEqual([LIMIT_BYTES, undefined, 3]);
    late.close();
  });

  it('waits for the rest of a body that has arrived in part', async () => {
    const late = await startLate();
    const answer = late.ask('abc', 'content-length: 6');
    while (late.atOnce.length === 0) await new Promise((done) => setTimeout(done, 1));
    late.socket.write('def');
    expect(await answer).toBe('abcdef');
    expect(late.atOnce).toEqual([undefined]);
    late.close();
  });
});
