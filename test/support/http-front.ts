import { type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { startHttp } from '../../src/upstream/__fixtures__/loopback.js';

export interface HttpFront {
  /** `http://localhost:<port>` */
  readonly origin: string;
  /** Forwards to these addresses in turn from now on. They may be known only after the front's own address. */
  sendTo(...origins: readonly string[]): void;
  close(): Promise<void>;
}

/**
 * A reverse proxy before a gateway: it forwards requests unchanged, including `Host`, and adds its own headers to each
 * request that lacks them. It streams bytes in both directions, and closes one side when the other disconnects.
 */
export async function startFront(headers: Readonly<Record<string, string>>): Promise<HttpFront> {
  let targets: readonly string[] = [];
  let turn = 0;
  const server = await startHttp((incoming, response) => {
    turn += 1;
    pass(incoming, response, targets[turn % targets.length] ?? '', headers);
  });
  return {
    // Both names refer to this machine; the tests' clients use this one.
    origin: `http://localhost:${server.port}`,
    sendTo: (...origins) => {
      targets = origins;
    },
    close: () => server.close(),
  };
}

function pass(
  incoming: IncomingMessage,
  response: ServerResponse,
  target: string,
  own: Readonly<Record<string, string>>,
): void {
  const { method = 'GET', url = '/', rawHeaders } = incoming;
  const added = Object.entries(own).filter(([name]) => incoming.headers[name] === undefined);
  const outgoing = send(target + url, { method, headers: [...rawHeaders, ...added.flat()], agent: false });
  outgoing.on('error', () => response.destroy());
  outgoing.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.rawHeaders).flushHeaders();
    pipeline(answer, response, () => undefined);
  });
  response.on('close', () => outgoing.destroy());
  pipeline(incoming, outgoing, () => undefined);
}
