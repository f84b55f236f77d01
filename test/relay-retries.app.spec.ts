import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { half, hangUp, json, type Reply, silence, text } from './support/fake-provider.js';
import { openaiClient } from './support/openai-client.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';

/** Of the SDK by itself. */
const RETRIES = 2;
const BATCH = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' } as const;

let gateway: RerankGateway;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startRerankGateway();
  const slug = await gateway.virtualKey('openai-compatible', { path: '/v1', config: { timeout_ms: 500 } });
  client = openaiClient(gateway, slug).withOptions({ maxRetries: RETRIES });
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

describe('a create of the official SDK that the provider may have done', () => {
  const unknown: readonly (readonly [string, Reply])[] = [
    ['says nothing in time', silence],
    ['hangs up', hangUp],
    ['breaks its answer off', half('{"id":"batch_1","object":"batch"}')],
    ['answers what nobody can read', text('<html>done</html>', 'text/html')],
  ];

  it.each(unknown)('is made once when the provider %s', async (_what, reply) => {
    gateway.provider.replyWith(reply);
    await expect(client.batches.create(BATCH)).rejects.toMatchObject({ code: expect.stringMatching(/^provider_/) });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it('is made once also as an upload', async () => {
    gateway.provider.replyWith(silence);
    const upload = { file: await toFile(Buffer.from('{}\n'), 'a.jsonl'), purpose: 'batch' } as const;
    await expect(client.files.create(upload)).rejects.toMatchObject({ code: 'provider_timeout' });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it.each([429, 500, 503])(
    'is tried again when the provider answered %i, as it would be without a gateway',
    async (status) => {
      gateway.provider.replyWith(json({ error: { message: 'not now' } }, status, { 'retry-after': '0' }));
      await expect(client.batches.create(BATCH)).rejects.toMatchObject({ headers: expect.anything() });
      expect(gateway.provider.calls).toHaveLength(1 + RETRIES);
    },
  );
});

describe('what another try would not change is asked for once', () => {
  it('when the credential is refused', async () => {
    gateway.provider.replyWith(json({ error: { message: 'no such key' } }, 401));
    await expect(client.batches.list()).rejects.toMatchObject({ code: 'provider_credential_rejected' });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it('when the provider says so, and its words reach the caller', async () => {
    const refusal = { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } };
    gateway.provider.replyWith(json(refusal, 429, { 'x-should-retry': 'false' }));
    const failed = client.batches.list();
    await expect(failed).rejects.toMatchObject({ status: 429, message: '429 You exceeded your current quota.' });
    expect(gateway.provider.calls).toHaveLength(1);
  });
});

it('the SDK shows the id of the request, of answers and of errors', async () => {
  const headers = { 'x-gateway-trace-id': 'order-17' };
  gateway.provider.replyWith(json({ id: 'batch_1', object: 'batch' }, 200, { 'x-request-id': 'req_provider' }));
  expect(await client.batches.retrieve('batch_1', { headers })).toMatchObject({ _request_id: 'order-17' });
  gateway.provider.replyWith(json({ error: { message: 'no such batch' } }, 404));
  await expect(client.batches.retrieve('batch_2', { headers })).rejects.toMatchObject({ requestID: 'order-17' });
});
