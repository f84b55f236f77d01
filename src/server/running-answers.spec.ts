import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Agent, createServer, get, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Watched } from '../../test/support/watched.js';
import { RunningAnswers } from './running-answers.js';

let server: Server;
let agent: Agent;
let running: RunningAnswers;
/** Answers that wait to be sent, by the requested path. */
let held: Map<string, ServerResponse>;

beforeEach(async () => {
  held = new Map();
  agent = new Agent({ keepAlive: true });
  server = createServer((request, answer) => {
    held.set(request.url ?? '', answer);
    server.emit('held');
  });
  running = new RunningAnswers(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
});

afterEach(async () => {
  agent.destroy();
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
});

/** Sends a request on a connection that the client keeps open; resolves with the answer. */
function ask(path: string): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    const { port } = Object(server.address());
    get({ host: '127.0.0.1', port, path, agent }, (answer) => done(answer.resume())).on('error', fail);
  });
}

async function askAll(...paths: string[]): Promise<ReadonlyMap<string, Promise<IncomingMessage>>> {
  const answers = new Map(paths.map((path) => [path, ask(path)]));
  while (held.size < paths.length) await once(server, 'held');
  return answers;
}

async function give(path: string): Promise<void> {
  const answer = held.get(path);
  if (answer === undefined) throw new Error(`no request for ${path}`);
  const closed = once(answer, 'close');
  answer.end('done');
  await closed;
}

/** The `connection` header that the client receives. */
async function connectionOf(answer: Promise<IncomingMessage> | undefined): Promise<string | undefined> {
  return (await answer)?.headers.connection;
}

describe('RunningAnswers', () => {
  const PATHS = ['/a', '/b', '/c', '/d'];

  it('keeps connections open before the shutdown', async () => {
    const answers = await askAll(...PATHS);
    for (const path of PATHS) await give(path);
    for (const path of PATHS) expect(await connectionOf(answers.get(path))).toBe('keep-alive');
  });

  it.each([[[]], [['/a']], [['/b']], [['/d']], [['/b', '/c']], [['/c', '/b']], [['/d', '/a']], [['/a', '/b', '/d']]])(
    'closes every connection after its pending response, when %j were answered before',
    async (early) => {
      const answers = await askAll(...PATHS);
      for (const path of early) await give(path);
      running.endWithAnswers();
      const late = PATHS.filter((path) => !early.includes(path));
      for (const path of late) await give(path);
      for (const path of early) expect(await connectionOf(answers.get(path))).toBe('keep-alive');
      for (const path of late) expect(await connectionOf(answers.get(path))).toBe('close');
    },
  );

  it('closes the connection of a response that has begun, after its last byte', async () => {
    const answers = await askAll('/a');
    held.get('/a')?.write('be');
    const answer = await answers.get('/a');
    running.endWithAnswers();
    const closed = once(Object(answer).socket, 'close');
    await give('/a');
    await closed;
    expect(answer?.complete).toBe(true);
  });

  it('unlinks a finished response, which could otherwise keep others in memory', async () => {
    const answers = new Watched<ServerResponse>();
    await askAll(...PATHS);
    held.forEach((answer) => answers.hand(answer));
    const listeners = held.get('/b')?.listeners('close');
    for (const path of ['/b', '/a', '/c', '/d']) await give(path);
    held.clear();
    // The answer that these listeners belong to.
    expect(await answers.left()).toBe(1);
    expect(listeners).not.toEqual([]);
  });

  it('closes unused connections, and none on which a request has begun', async () => {
    const { port } = Object(server.address());
    const [silent, begun] = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    const arrived = once(server, 'connection').then(() => once(server, 'connection'));
    try {
      await arrived;
      begun.write('GET /begun HTTP/1.1\r\n');
      const closed = once(silent, 'close');
      const answers = await askAll('/a');
      running.endWithAnswers();
      running.endUnused();
      await closed;
      begun.write('host: a\r\n\r\n');
      while (!held.has('/begun')) await once(server, 'held');
      const ended = once(begun.resume(), 'end');
      for (const path of ['/a', '/begun']) await give(path);
      await ended;
      expect(await connectionOf(answers.get('/a'))).toBe('close');
    } finally {
      silent.destroy();
      begun.destroy();
    }
  });

  it('answers a request that arrived while the process was too busy to read it', async () => {
    const { port } = Object(server.address());
    const client = connect(port, '127.0.0.1');
    try {
      await Promise.all([once(server, 'connection'), once(client, 'connect')]);
      client.write('GET /late HTTP/1.1\r\nhost: a\r\n\r\n');
      const closed = new Promise<void>((done) => server.close(() => done()));
      running.endWithAnswers();
      running.endUnused();
      const until = performance.now() + 150;
      while (performance.now() < until);
      while (!held.has('/late')) await once(server, 'held');
      const answered = once(client, 'data');
      await give('/late');
      expect(String((await answered)[0])).toContain('200 OK');
      await closed;
    } finally {
      client.destroy();
    }
  });

  it('cuts all connections but those of the spared answers, whether they began before or after the shutdown', async () => {
    const early = ['/a', '/b'].map(ask);
    while (held.size < 2) await once(server, 'held');
    running.endWithAnswers();
    const late = ['/c', '/d'].map(ask);
    while (held.size < PATHS.length) await once(server, 'held');
    const outcomes = Promise.allSettled([...early, ...late]);
    running.cutAllBut((answer) => answer === held.get('/a') || answer === held.get('/c'));
    for (const path of ['/a', '/c']) await give(path);
    const statuses = (await outcomes).map((outcome) => outcome.status);
    expect(statuses).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
  });

  it('removes closed connections from its list', async () => {
    const { port } = Object(server.address());
    const sockets = new Watched<Socket>();
    for (let count = 0; count < 5; count += 1) {
      const closed = new Promise((done) => {
        server.once('connection', (socket: Socket) => sockets.hand(socket).once('close', done));
      });
      connect(port, '127.0.0.1', function (this: Socket) {
        this.destroy();
      });
      await closed;
    }
    expect(await sockets.left()).toBeLessThan(2);
  });

  it.each([
    ['before and after', ['/first', '/second'], ['/third']],
    ['before', ['/first', '/second', '/third'], []],
    ['after', [], ['/first', '/second', '/third']],
  ])('answers all pipelined requests, sent %s the shutdown has begun', async (_what, early, late) => {
    const { port } = Object(server.address());
    const client = connect(port, '127.0.0.1');
    const sent = (paths: readonly string[]): string =>
      paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`).join('');
    let text = '';
    client.on('data', (chunk) => (text += chunk.toString()));
    try {
      client.write(sent(early));
      while (held.size < early.length) await once(server, 'held');
      held.get('/first')?.write('begun');
      running.endWithAnswers();
      client.write(sent(late));
      while (held.size < 3) await once(server, 'held');
      const ended = once(client, 'end');
      for (const path of ['/first', '/second', '/third']) held.get(path)?.end('done');
      await ended;
      expect(text.match(/done/g)).toHaveLength(3);
      expect(text.match(/connection: close/gi)).toHaveLength(1);
    } finally {
      client.destroy();
    }
  });

  it('closes connections that send a request during the shutdown', async () => {
    running.endWithAnswers();
    const answers = await askAll('/a');
    await give('/a');
    expect(await connectionOf(answers.get('/a'))).toBe('close');
  });
});
