import type { RequestListener } from 'node:http';
import { startHttp } from '../../src/upstream/__fixtures__/loopback.js';

/** A provider that receives requests while they arrive, not only when they are complete. */
export interface ByteProvider {
  readonly url: string;
  /** Connections accepted so far. */
  readonly connections: number;
  answerWith(listener: RequestListener): void;
  close(): Promise<void>;
}

export async function startByteProvider(): Promise<ByteProvider> {
  let listener: RequestListener = (_request, response) => response.writeHead(501).end();
  const server = await startHttp((request, response) => listener(request, response));
  return {
    url: server.origin,
    get connections() {
      return server.connections;
    },
    answerWith: (next) => {
      listener = next;
    },
    close: () => server.close(),
  };
}
