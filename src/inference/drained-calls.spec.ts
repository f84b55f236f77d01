import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { AbortableClient, type ClientConnection } from '../common/http/client-connection.js';
import { DrainedCalls, OutlivingSink } from './drained-calls.js';

interface Running {
  readonly client: AbortableClient;
  readonly caller: ClientConnection;
  readonly end: () => void;
}

function begin(calls: DrainedCalls): Running {
  const client = new AbortableClient();
  let caller: ClientConnection = client;
  let end: () => void = () => undefined;
  void calls.run(client, (given) => {
    caller = given;
    return new Promise<void>((done) => (end = done));
  });
  return { client, caller, end: () => end() };
}

describe('DrainedCalls', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('lets a call go on for two minutes after its client has left', async () => {
    const { client, caller, end } = begin(new DrainedCalls());
    client.abort();
    jest.advanceTimersByTime(119_999);
    expect(caller.aborted).toBe(false);
    jest.advanceTimersByTime(1);
    expect(caller.aborted).toBe(true);
    end();
    await Promise.resolve();
  });

  it('lets 64 calls go on at once, and another when one of them is over', async () => {
    const calls = new DrainedCalls();
    const running = Array.from({ length: 65 }, () => begin(calls));
    for (const { client } of running) client.abort();
    expect(running.filter(({ caller }) => caller.aborted)).toHaveLength(1);
    running[0]?.end();
    await jest.advanceTimersByTimeAsync(0);
    const next = begin(calls);
    next.client.abort();
    expect(next.caller.aborted).toBe(false);
  });

  it('does not begin a call whose client has left', async () => {
    const client = new AbortableClient();
    client.abort();
    await new DrainedCalls().run(client, (caller) => Promise.resolve(expect(caller.aborted).toBe(true)));
  });

  it('leaves no timer behind', async () => {
    const { client, end } = begin(new DrainedCalls());
    client.abort();
    end();
    await jest.advanceTimersByTimeAsync(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('OutlivingSink', () => {
  /** A client that reads nothing, and the answer to it. */
  async function slowClient(): Promise<{ answer: ServerResponse; message: IncomingMessage; close: () => void }> {
    const server = createServer();
    const answering = new Promise<ServerResponse>((resolve) => {
      server.on('request', (_request, answer) => resolve(answer));
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = Object(server.address());
    const reading = new Promise<IncomingMessage>((resolve) => {
      get({ port, host: '127.0.0.1', agent: false }, resolve).on('error', () => undefined);
    });
    const answer = await answering;
    answer.flushHeaders();
    const message = await reading;
    message.on('error', () => undefined);
    const close = (): void => {
      server.closeAllConnections();
      server.close();
    };
    return { answer, message, close };
  }

  const MIB = Buffer.alloc(1024 * 1024, 'x');

  it('waits for a client that reads slowly, and for none that has left', async () => {
    const { answer, message, close } = await slowClient();
    const sink = new OutlivingSink(answer);
    let taken = 0;
    for (let count = 0; count < 20; count += 1) sink.write(MIB, () => (taken += 1));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(taken).toBeLessThan(20);
    message.destroy();
    const finished = new Promise<void>((done) => sink.end(done));
    await finished;
    expect(taken).toBe(20);
    close();
  });

  it('gives its client all of the answer and its end', async () => {
    const { answer, message, close } = await slowClient();
    const sink = new OutlivingSink(answer);
    const chunks: Buffer[] = [];
    message.on('data', (chunk: Buffer) => chunks.push(chunk));
    const ended = new Promise<void>((done) => message.on('end', done));
    for (let count = 0; count < 5; count += 1) sink.write(MIB);
    sink.end('the end');
    await ended;
    expect(Buffer.concat(chunks).length).toBe(5 * MIB.length + 'the end'.length);
    close();
  });

  it('breaks the answer off when it is destroyed', async () => {
    const { answer, message, close } = await slowClient();
    const sink = new OutlivingSink(answer);
    sink.write('half');
    const closed = new Promise<void>((done) => message.resume().on('close', done));
    sink.destroy();
    await closed;
    expect(message.complete).toBe(false);
    close();
  });
});
