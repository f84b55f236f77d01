import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { startHttp } from '../../src/upstream/__fixtures__/loopback.js';

/** A request as it reached the provider. */
export interface ProviderCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body as it came; absent where no request was made. */
  readonly bytes?: Buffer;
  /** Whether the gateway closed the connection before the answer was complete. */
  readonly closedEarly: boolean;
}

export type Reply = (response: ServerResponse, call: ProviderCall) => void;

export interface FakeProvider {
  readonly url: string;
  readonly calls: readonly ProviderCall[];
  /** The number of open connections. */
  readonly connections: number;
  /** Sets the answer to all further requests. */
  replyWith(reply: Reply): void;
  /** Forgets the calls so far. */
  forget(): void;
  close(): Promise<void>;
}

/** A provider on loopback that records every call and returns the configured answers. */
export async function startFakeProvider(): Promise<FakeProvider> {
  const calls: RecordedCall[] = [];
  let reply: Reply = json({ message: 'no reply was set' }, 501);
  const server = await startHttp((request, response) => {
    void bytesOf(request).then((bytes) => {
      const call = new RecordedCall(request, response, bytes);
      calls.push(call);
      reply(response, call);
    });
  });
  return {
    url: server.origin,
    calls,
    get connections() {
      return server.open.size;
    },
    replyWith: (next) => {
      reply = next;
    },
    forget: () => {
      calls.length = 0;
    },
    close: () => server.close(),
  };
}

/** The only call to the provider; throws when there was not exactly one. */
export function onlyCall({ calls }: Pick<FakeProvider, 'calls'>): ProviderCall {
  const [call, another] = calls;
  if (call === undefined || another !== undefined) throw new Error(`expected one call, got ${calls.length}`);
  return call;
}

export function json(body: unknown, status = 200, headers: Readonly<Record<string, string>> = {}): Reply {
  return text(JSON.stringify(body), 'application/json', status, headers);
}

export function text(body: string, type: string, status = 200, headers: Readonly<Record<string, string>> = {}): Reply {
  return (response) => response.writeHead(status, { 'content-type': type, ...headers }).end(body);
}

/** The first request gets the first reply, and so on; the last reply stays. */
export function inTurn(...replies: readonly Reply[]): Reply {
  let turn = 0;
  return (response, call) => {
    replies[Math.min(turn, replies.length - 1)]?.(response, call);
    turn += 1;
  };
}

/** Receives the request and never answers. */
export const silence: Reply = () => undefined;

/** Closes the connection instead of answering. */
export const hangUp: Reply = (response) => response.destroy();

/** Announces the whole body, sends half of it and closes the connection. */
export function half(body: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.write(body.slice(0, body.length / 2), () => response.destroy());
  };
}

/** Sends one byte at a time while the connection is open. */
export function drip(everyMs: number): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const timer = setInterval(() => response.write(' '), everyMs);
    response.on('close', () => clearInterval(timer));
  };
}

class RecordedCall implements ProviderCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  closedEarly = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    readonly bytes: Buffer,
  ) {
    this.body = bytes.toString('utf8');
    this.method = request.method ?? '';
    this.path = request.url ?? '';
    this.headers = request.headers;
    response.on('close', () => {
      this.closedEarly = !response.writableFinished;
    });
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
