import { type IncomingMessage, request as send, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { startHttp } from '../../src/upstream/__fixtures__/loopback.js';

export interface HttpFront {
  /** `http://localhost:<port>` */
  readonly origin: string;
  /** Where requests go from now on, to each of these addresses in turn. They may only be known after the front has to be. */
  sendTo(...origins: readonly string[]): void;
  close(): Promise<void>;
}

/**
 * What stands before a gateway in a company: passes requests on as they come, `Host` included, with headers of its own put
 * to each that has none of that name. Bytes go both ways as they come, and who leaves on one side is gone on the other.
 */
export async function startFront(headers: Readonly<Record<string, string>>): Promise<HttpFront> {
  let targets: readonly string[] = [];
  let turn = 0;
  const server = await startHttp((incoming, response) => {
    turn += 1;
    pass(incoming, response, targets[turn % targets.length] ?? '', headers);
  });
  return {
    // Both names mean this machine; clients of the tests type this one.
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
