import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Loopback, startHttp } from '../__fixtures__/loopback.js';
import { EgressPolicy } from './egress-policy.js';
import { type GuardedStreamFetch, guardedStreamFetch } from './guarded-stream-fetch.js';

const MAX_BYTES = 1_000;

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const thing of opened.splice(0)) await thing.close();
});

async function answering(body: Buffer, headers = {}): Promise<Loopback> {
  const server = await startHttp((_request, response) => response.writeHead(200, headers).end(body));
  opened.push(server);
  return server;
}

function network(allowed: readonly string[] = ['127.0.0.1']): GuardedStreamFetch {
  const made = guardedStreamFetch(new EgressPolicy(allowed), { connectTimeoutMs: 10_000, maxResponseBytes: MAX_BYTES });
  opened.push(made);
  return made;
}

describe('guardedStreamFetch', () => {
  it('reads an answer of exactly the limit', async () => {
    const server = await answering(Buffer.alloc(MAX_BYTES, 'x'));
    const { fetch, overflow } = network();
    expect(await (await fetch(server.url('/'))).text()).toHaveLength(MAX_BYTES);
    expect(overflow.aborted).toBe(false);
  });

  it.each([
    ['as it is', Buffer.alloc(MAX_BYTES + 1), {}],
    ['when it is unpacked', gzipSync(Buffer.alloc(1_000_000)), { 'content-encoding': 'gzip' }],
  ])('fails for a longer answer %s, and reports it', async (_how, body, headers) => {
    const server = await answering(body, headers);
    const { fetch, overflow } = network();
    const answer = await fetch(server.url('/'));
    const failure = { name: 'UpstreamFailure', kind: 'too_large' };
    await expect(answer.text()).rejects.toMatchObject(failure);
    expect(overflow.reason).toMatchObject(failure);
  });

  it('applies the egress rules to a streamed answer', async () => {
    const server = await answering(Buffer.from('x'));
    await expect(network([]).fetch(server.url('/'))).rejects.toThrow();
    expect(server.requests).toHaveLength(0);
  });
});
