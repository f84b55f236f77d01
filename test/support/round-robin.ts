import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Loopback, startHttp } from '../../src/upstream/__fixtures__/loopback.js';

/** A small balancer: every request is forwarded to the next target, regardless of its connection. */
export interface RoundRobin extends Loopback {
  /** The targets, in turn. The balancer skips targets that refuse connections. */
  readonly targets: (URL | undefined)[];
  /** The index of the target of each request. */
  readonly turns: readonly number[];
  /** Pins all requests to one target; without an index, returns to round robin. */
  pin(index?: number): void;
}

export async function startRoundRobin(): Promise<RoundRobin> {
  const targets: (URL | undefined)[] = [];
  const turns: number[] = [];
  let pinned: number | undefined;
  let turn = 0;

  const pass = (incoming: IncomingMessage, response: ServerResponse, body: Buffer, first: number, tried = 0): void => {
    const index = pinned ?? (first + tried) % targets.length;
    // Starts at the request's own first target: other requests move the shared turn, possibly back to the dead target.
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
