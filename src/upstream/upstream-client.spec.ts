import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { callTo, failureOf, loopbackPolicy, until } from './__fixtures__/calls.js';
import { startHttp, type Loopback } from './__fixtures__/loopback.js';
import { UpstreamClient, type UpstreamClientOptions } from './upstream-client.js';

const OPTIONS: UpstreamClientOptions = { connectionsPerOrigin: 4, connectTimeoutMs: 10_000 };

let client: UpstreamClient;
const servers: Loopback[] = [];

function serve(server: Loopback): Loopback {
  servers.push(server);
  return server;
}

beforeEach(() => {
  client = new UpstreamClient(loopbackPolicy(), OPTIONS);
});

afterEach(async () => {
  await client.close();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

describe('UpstreamClient: the request', () => {
  it('sends method, path, query, headers and body', async () => {
    let received = '';
    const server = serve(
      await startHttp((request, response) => {
        request.on('data', (chunk: Buffer) => (received += chunk.toString()));
        request.on('end', () => response.end());
      }),
    );
    await client.send(
      callTo(server.url('/v2/rerank?x=%20y'), {
        request: {
          method: 'POST',
          url: server.url('/v2/rerank?x=%20y'),
          headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
          body: Buffer.from('{"a":1}'),
        },
      }),
    );

    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/v2/rerank?x=%20y' });
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer k',
      'content-type': 'application/json',
      'content-length': '7',
    });
    expect(received).toBe('{"a":1}');
  });

  it('requests no compression and sends the host of the URL, whatever the headers say', async () => {
    const server = serve(await startHttp((_request, response) => response.end()));
    const headers = { host: 'elsewhere.example', 'accept-encoding': 'gzip' };
    await client.send(callTo(server.url('/'), { request: { method: 'GET', url: server.url('/'), headers } }));

    expect(server.requests[0]?.headers).toMatchObject({
      host: `127.0.0.1:${server.port}`,
      'accept-encoding': 'identity',
    });
  });

  it('reuses connections', async () => {
    // undici frees a connection one turn of the event loop after the answer, so that consecutive calls alternate between two.
    const server = serve(await startHttp((_request, response) => response.end('ok')));
    for (let index = 0; index < 5; index += 1) await client.send(callTo(server.url('/')));
    expect(server.connections).toBeLessThanOrEqual(2);
  });

  it('opens no more connections than its bound, and queues', async () => {
    const server = serve(await startHttp((_request, response) => setTimeout(() => response.end('ok'), 10)));
    const answers = await Promise.all(Array.from({ length: 12 }, () => client.send(callTo(server.url('/')))));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(server.connections).toBe(4);
  });

  it('closes the connections of origins that were not used recently', async () => {
    const few = new UpstreamClient(loopbackPolicy(), { ...OPTIONS, maxOrigins: 1 });
    const first = serve(await startHttp((_request, response) => response.end()));
    const second = serve(await startHttp((_request, response) => response.end()));
    await few.send(callTo(first.url('/')));
    await few.send(callTo(second.url('/')));

    await until(() => first.open.size === 0);
    expect(second.open.size).toBe(1);
    await few.close();
  });

  it('rejects with a defect of the gateway unchanged', async () => {
    const server = serve(await startHttp((_request, response) => response.end()));
    const headers = { authorization: 'Bearer a\r\nx-injected: 1' };
    const request = { method: 'GET', url: server.url('/'), headers } as const;
    await expect(client.send(callTo(server.url('/'), { request, retry: 'idempotent' }))).rejects.toMatchObject({
      code: 'UND_ERR_INVALID_ARG',
    });
    expect(server.requests).toHaveLength(0);
  });
});

describe('UpstreamClient: the answer', () => {
  it.each([200, 204, 400, 404, 500, 503])('resolves with a %d', async (status) => {
    const server = serve(await startHttp((_request, response) => response.writeHead(status, { 'x-one': '1' }).end()));
    const answer = await client.send(callTo(server.url('/')));
    expect(answer).toMatchObject({ status, headers: { 'x-one': '1' } });
    expect(answer.body).toHaveLength(0);
  });

  it('joins the chunks of a body', async () => {
    const server = serve(
      await startHttp((_request, response) => {
        response.write('one ');
        setTimeout(() => response.end('two'), 5);
      }),
    );
    expect((await client.send(callTo(server.url('/')))).body.toString()).toBe('one two');
  });

  it('keeps the bytes of one answer when the next comes over the same connection', async () => {
    const server = serve(await startHttp((request, response) => response.end(`answer to ${request.url}`)));
    const first = await client.send(callTo(server.url('/1')));
    const second = await client.send(callTo(server.url('/2')));
    expect([first.body.toString(), second.body.toString()]).toEqual(['answer to /1', 'answer to /2']);
  });

  it('keeps headers that came more than once', async () => {
    const server = serve(await startHttp((_request, response) => response.setHeader('x-many', ['a', 'b']).end()));
    expect((await client.send(callTo(server.url('/')))).headers['x-many']).toEqual(['a', 'b']);
  });

  it('waits beyond interim answers', async () => {
    const server = serve(
      await startHttp((_request, response) => {
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        response.end('final');
      }),
    );
    const answer = await client.send(callTo(server.url('/')));
    expect([answer.status, answer.body.toString()]).toEqual([200, 'final']);
  });

  it('accepts an answer of exactly the maximum size', async () => {
    const server = serve(await startHttp((_request, response) => response.end('x'.repeat(1_000))));
    expect((await client.send(callTo(server.url('/'), { maxResponseBytes: 1_000 }))).body).toHaveLength(1_000);
  });
});

describe('UpstreamClient.close', () => {
  it('lets calls in flight finish at close, and refuses new ones', async () => {
    const server = serve(await startHttp((_request, response) => setTimeout(() => response.end('late'), 30)));
    const running = client.send(callTo(server.url('/')));
    await until(() => server.requests.length === 1);
    const closed = client.close();

    expect(await failureOf(client.send(callTo(server.url('/'))))).toMatchObject({ kind: 'connect' });
    expect((await running).body.toString()).toBe('late');
    await closed;
    await until(() => server.open.size === 0);
  });

  it('can be closed twice', async () => {
    await Promise.all([client.close(), client.close()]);
  });
});
