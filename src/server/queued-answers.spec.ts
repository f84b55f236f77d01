import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { closeQueuedAnswers } from './linked-express.adapter.js';

let server: Server;
let client: Socket;
/** The answers in the order of their requests; `closed` holds the paths of those that have closed. */
let answers: ServerResponse[];
let closed: string[];
let received: string;

beforeEach(async () => {
  [answers, closed, received] = [[], [], ''];
  server = createServer(({ url = '' }, answer) => {
    answers.push(answer);
    answer.on('close', () => closed.push(url));
  });
  closeQueuedAnswers(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = Object(server.address());
  client = connect(port, '127.0.0.1');
  client.on('data', (chunk) => (received += chunk.toString()));
  client.on('error', () => undefined);
});

afterEach(async () => {
  client.destroy();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

/** Sends all requests in one piece, as pipelining clients do. */
function ask(count: number): void {
  client.write(Array.from({ length: count }, (_, at) => `GET /${at} HTTP/1.1\r\nhost: a\r\n\r\n`).join(''));
}

async function askAndWait(count: number): Promise<void> {
  ask(count);
  await eventually(() => answers.length === count);
}

describe('pipelined requests', () => {
  it('answers pipelined requests in order, whichever is ready first', async () => {
    await askAndWait(4);
    for (const [at, answer] of [...answers.entries()].reverse()) answer.end(`answer ${at};`);
    await eventually(() => closed.length === 4 && received.includes('answer 3;'));
    expect(received.match(/answer \d/g)).toEqual(['answer 0', 'answer 1', 'answer 2', 'answer 3']);
    expect(answers.map(({ writableFinished }) => writableFinished)).toEqual([true, true, true, true]);
    expect(closed).toEqual(['/0', '/1', '/2', '/3']);
  });

  it.each([
    ['leaves', () => client.end().destroy()],
    ['is reset', () => client.resetAndDestroy()],
  ])('closes every queued response once when the client %s', async (_what, leave) => {
    await askAndWait(4);
    answers[2]?.end('too early');
    leave();
    await eventually(() => closed.length >= 4);
    expect(new Set(closed)).toEqual(new Set(['/0', '/1', '/2', '/3']));
    expect(closed).toHaveLength(4);
    expect(answers.map(({ destroyed, writableFinished }) => [destroyed, writableFinished])).toEqual(
      answers.map(() => [true, false]),
    );
  });

  it('does not touch responses that were already sent', async () => {
    await askAndWait(3);
    answers[0]?.end('first;');
    await eventually(() => received.includes('first;'));
    client.destroy();
    await eventually(() => closed.length >= 3);
    expect(new Set(closed)).toEqual(new Set(['/0', '/1', '/2']));
    expect(closed).toHaveLength(3);
    expect(answers.map(({ writableFinished }) => writableFinished)).toEqual([true, false, false]);
  });

  it('cuts a connection with too many queued requests, also if they arrived with the last bytes', async () => {
    ask(150);
    await once(client, 'close');
    await eventually(() => closed.length >= 150);
    expect([answers.length, new Set(closed).size, closed.length]).toEqual([150, 150, 150]);
  });

  it('accepts a hundred queued requests behind the current one', async () => {
    await askAndWait(101);
    for (const answer of answers) answer.end('done;');
    await eventually(() => received.match(/done;/g)?.length === 101);
  });
});
