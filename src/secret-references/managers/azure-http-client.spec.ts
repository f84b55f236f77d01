import { SecretClient } from '@azure/keyvault-secrets';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { failureOf, loopbackPolicy, until } from '../../upstream/__fixtures__/calls.js';
import { type Loopback, startHttp } from '../../upstream/__fixtures__/loopback.js';
import { guardedFetch } from '../../upstream/egress/guarded-fetch.js';
import { azureHttpClient } from './azure-http-client.js';
import { TokenTraffic } from './azure-identity.js';

const send = guardedFetch(loopbackPolicy(), { timeoutMs: 2_000, maxResponseBytes: 10_000 });

let server: Loopback;
let traffic: TokenTraffic;

beforeEach(async () => {
  traffic = new TokenTraffic();
  server = await startHttp((request, response) => {
    if (request.url?.startsWith('/secrets/slow') === true) return;
    response.writeHead(418, { 'retry-after': '30', 'x-ms-region': 'here' }).end('{"error":{"code":"Teapot"}}');
  });
});
afterEach(() => server.close());

/** A client of the SDK, so that its own requests are what is tested. */
function client(origin = server.origin, overHttp = true): SecretClient {
  return new SecretClient(
    server.origin,
    { getToken: () => Promise.resolve(null) },
    {
      httpClient: azureHttpClient(send, [origin], traffic),
      allowInsecureConnection: overHttp,
    },
  );
}

describe('azureHttpClient', () => {
  it('sends the request of the SDK without compression', async () => {
    await expect(client().setSecret('name', 'value')).rejects.toMatchObject({ statusCode: 418, code: 'Teapot' });
    expect(server.requests.map(({ method }) => method)).toEqual(['PUT']);
    expect(server.requests[0]?.url).toMatch(/^\/secrets\/name\?/);
    expect(server.requests[0]?.headers['accept-encoding']).not.toContain('gzip');
    expect(server.requests[0]?.headers['user-agent']).toContain('azsdk-js-keyvault-secrets');
  });

  it('returns the headers without a time to wait', async () => {
    let headers: unknown;
    const failed = client().getSecret('name', { onResponse: (response) => (headers = response.headers.toJSON()) });
    await expect(failed).rejects.toThrow();
    expect(headers).toMatchObject({ 'x-ms-region': 'here' });
    expect(headers).not.toHaveProperty('retry-after');
    expect(traffic.answer).toEqual({ status: 418, text: '{"error":{"code":"Teapot"}}' });
  });

  it('sends requests to its origins only', async () => {
    const failure = await failureOf(client('https://contoso.vault.azure.net').getSecret('name'));
    expect(failure.kind).toBe('refused_by_egress');
    expect(server.requests).toHaveLength(0);
    expect(traffic.failure).toBe(failure);
  });

  it('ends the request when the signal fires', async () => {
    const abort = new AbortController();
    const running = client().getSecret('slow', { abortSignal: abort.signal });
    await until(() => server.requests.length === 1);
    abort.abort(new Error('enough'));
    await expect(running).rejects.toThrow('enough');
  });
});
