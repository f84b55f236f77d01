import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Loopback, startHttp } from '../../src/upstream/__fixtures__/loopback.js';

/** A balancer in small: every request goes to the next target, whatever connection it came on. */
export interface RoundRobin extends Loopback {
  /** Where requests go, in turn. One that nobody listens at is passed over. */
  readonly targets: (URL | undefined)[];
  /** The index of the target that got each request. */
  readonly turns: readonly number[];
  /** From now on to this one alone; in turn again without an index. */
  pin(index?: number): void;
}

export async function startRoundRobin(): Promise<RoundRobin> {
  const targets: (URL | undefined)[] = [];
  const turns: number[] = [];
  let pinned: number | undefined;
  let turn = 0;

  const pass = (incoming: IncomingMessage, response: ServerResponse, body: Buffer, first: number, tried = 0): void => {
    const index = pinned ?? (first + tried) % targets.length;
    // From its own first one on: the turn is moved on by others meanwhile, and each time back to the target that is gone.
    const next = (): void => {
      if (tried < targets.length) pass(incoming, response, body, first, tried + 1);
      else response.writeHead(503).end();
    };
    const target = targets[index];
    if (target === undefined) return next();
    const { method, url: path, rawHeaders } = incoming;
    const { hostname, port } = target;
    const outgoing = request({ hostname, port, method, path, headers: [...rawHeaders], agent: false });
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') next();
      else response.destroy();
    });
    outgoing.on('response', (answer) => {
      turns.push(index);
      response.writeHead(answer.statusCode ?? 502, [...answer.rawHeaders]).flushHeaders();
      answer.on('error', () => response.destroy()).pipe(response);
    });
    response.on('close', () => outgoing.destroy());
    outgoing.end(body);
  };

  const server = await startHttp((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => pass(incoming, response, Buffer.concat(chunks), turn++));
  });
  const pin = (index?: number): void => void (pinned = index);
  return { ...server, targets, turns, pin };
}
