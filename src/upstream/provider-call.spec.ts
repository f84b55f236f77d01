import { PassThrough, Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NEVER_ABORTED, type ClientConnection } from '../common/http/client-connection.js';
import { AppConfig } from '../config/environment.js';
import { FakeCaller, loopbackPolicy, until } from './__fixtures__/calls.js';
import { startHttp, type Loopback } from './__fixtures__/loopback.js';
import { Collector } from './__fixtures__/sinks.js';
import { providerRelay, type ProviderStreams, type Upload } from './provider-call.js';
import { throwAsGatewayError } from './provider-error.js';
import { UpstreamClient } from './upstream-client.js';
import { credentialWith } from './providers/__fixtures__/credentials.js';
import { openai } from './providers/openai.provider.js';
import type { Credential, Provider, ProviderRequest } from './providers/provider.types.js';
import type { RelayedAnswer } from './upstream.types.js';

let client: UpstreamClient;
let provider: Loopback;

beforeEach(async () => {
  client = new UpstreamClient(loopbackPolicy(), { connectionsPerOrigin: 1, connectTimeoutMs: 10_000 });
  provider = await startHttp((request, response) => {
    if (request.url === '/v1/silent') return;
    if (request.url === '/v1/broken') request.socket.destroy();
    else request.pipe(response);
  });
});

afterEach(async () => {
  await client.close();
  await provider.close();
});

interface Relayed extends Partial<ProviderStreams> {
  readonly provider?: Provider;
  readonly credential?: Credential;
  readonly request?: ProviderRequest;
  readonly caller?: ClientConnection;
}

async function relay(path: string, changes: Relayed = {}): Promise<RelayedAnswer> {
  const {
    provider: target = openai,
    credential = credentialWith({ base_url: `${provider.origin}/v1`, timeout_ms: 1_000 }),
    request = { method: 'POST', path },
    caller = NEVER_ABORTED,
    ...streams
  } = changes;
  const given = { sinkFor: () => undefined, ...streams };
  const call = providerRelay({ provider: target, credential }, request, given, new AppConfig());
  return client.relay({ ...call, caller }).catch(throwAsGatewayError);
}

function uploadOf(text: string, headers: Upload['headers']): Upload {
  return Object.assign(Readable.from([Buffer.from(text)], { objectMode: false }), { headers });
}

describe('providerRelay', () => {
  it('sends an upload under its own type, coding and length, with the credential of the virtual key', async () => {
    const headers = {
      'content-type': 'multipart/form-data; boundary=x',
      'content-encoding': 'gzip',
      'content-length': '5',
      authorization: 'mine',
    };
    const answer = await relay('/files', { upload: uploadOf('bytes', headers) });
    expect(answer.body?.toString()).toBe('bytes');
    expect(provider.requests[0]).toMatchObject({ method: 'POST', url: '/v1/files' });
    expect(provider.requests[0]?.headers).toMatchObject({
      'content-type': 'multipart/form-data; boundary=x',
      'content-encoding': 'gzip',
      'content-length': '5',
      authorization: 'Bearer the-key',
      accept: '*/*',
    });
  });

  it('sends an upload of unknown length in chunks', async () => {
    await relay('/files', { upload: uploadOf('bytes', {}) });
    expect(provider.requests[0]?.headers).toMatchObject({ 'transfer-encoding': 'chunked' });
    expect(provider.requests[0]?.headers['content-type']).toBeUndefined();
  });

  it('streams the answer to a JSON request', async () => {
    const sink = new Collector();
    const request = { method: 'POST', path: '/threads/runs', body: { stream: true } } as const;
    await relay('', { request, accept: 'text/event-stream', sinkFor: () => sink });
    expect(sink.text).toBe('{"stream":true}');
    expect(provider.requests[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      accept: 'text/event-stream',
    });
  });

  it.each([
    ['/silent', 'provider_timeout'],
    ['/broken', 'provider_failed'],
  ])('reports %s in documented words: %s', async (path, code) => {
    await expect(relay(path)).rejects.toMatchObject({ code });
  });

  it('reports that the caller left', async () => {
    const caller = new FakeCaller();
    const relayed = relay('/silent', { caller });
    relayed.catch(() => undefined);
    await until(() => provider.requests.length === 1);
    caller.leave();
    await expect(relayed).rejects.toMatchObject({ kind: 'caller_gone' });
  });

  it('signs a body that it holds, and refuses to sign one that it does not', async () => {
    const signing: Provider = {
      ...openai,
      signer: () => ({
        sign: (request) => Promise.resolve({ ...request, headers: { 'x-signed-bytes': String(request.body?.length) } }),
      }),
    };
    const request = { method: 'POST', path: '/jobs', body: {} } as const;
    await relay('', { provider: signing, request });
    expect(provider.requests[0]?.headers['x-signed-bytes']).toBe('2');

    const upload = uploadOf('bytes', {});
    await expect(relay('/jobs', { provider: signing, upload })).rejects.toMatchObject({
      code: 'provider_not_supported',
    });
    await until(() => upload.readableEnded);
    expect(provider.requests).toHaveLength(1);
  });

  it('does not touch the upload when the credential cannot be used', async () => {
    const upload = Object.assign(new PassThrough(), { headers: {} });
    const credential = { ...credentialWith({ base_url: `${provider.origin}/v1` }), key: undefined };
    await expect(relay('/files', { upload, credential })).rejects.toMatchObject({
      code: 'secret_unavailable',
    });
    expect(upload.destroyed).toBe(false);
  });
});
