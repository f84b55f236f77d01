import { HttpClientConnection } from '../../common/http/client-connection.js';
import type { UpstreamClient } from '../upstream-client.js';
import { UpstreamFailure, type UpstreamRelayCall, type UpstreamRequest } from '../upstream.types.js';
import { relayTo } from './calls.js';
import { startHttp, type Loopback } from './loopback.js';

/** A gateway in small: passes what it is sent on to `target`, and streams every 2xx answer back. */
export interface RelayingServer extends Loopback {
  /** How the calls ended, in order: `done`, a kind of failure, or the message of another error. */
  readonly outcomes: readonly string[];
}

export async function startRelaying(
  client: Pick<UpstreamClient, 'relay'>,
  target: URL,
  changes: Partial<UpstreamRelayCall> = {},
): Promise<RelayingServer> {
  const outcomes: string[] = [];
  const server = await startHttp((request, response) => {
    const length = request.headers['content-length'];
    const call = relayTo(target, {
      request: {
        method: methodOf(request.method),
        url: target,
        headers: length === undefined ? {} : { 'content-length': length },
        ...(request.method === 'GET' ? {} : { body: request }),
      },
      caller: new HttpClientConnection(response),
      sinkFor: ({ status }) => {
        if (status >= 300) return undefined;
        response.writeHead(status);
        response.flushHeaders();
        return response;
      },
      ...changes,
    });
    client.relay(call).then(
      ({ status, body }) => {
        outcomes.push('done');
        if (body !== undefined) response.writeHead(status).end(body);
      },
      (error: unknown) => {
        outcomes.push(error instanceof UpstreamFailure ? error.kind : String(error));
        if (!response.headersSent) response.writeHead(502).end();
      },
    );
  });
  return Object.defineProperty({ ...server, outcomes }, 'connections', { get: () => server.connections });
}

function methodOf(method: string | undefined): UpstreamRequest['method'] {
  return method === 'POST' || method === 'PUT' ? method : 'GET';
}
