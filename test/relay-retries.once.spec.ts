import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type OpenAI from 'openai';
import { toFile } from 'openai';
import { half, hangUp, json, type Reply, silence, text } from './support/fake-provider.js';
import { openaiClient } from './support/openai-client.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';

/** The SDK's own number of retries. */
const RETRIES = 2;
const BATCH = { input_file_id: 'file-1', endpoint: '/v1/chat/completions', completion_window: '24h' } as const;

let gateway: RerankGateway;
let client: OpenAI;

beforeAll(async () => {
  gateway = await startRerankGateway();
  const slug = await gateway.virtualKey('openai-compatible', { path: '/v1', config: { timeout_ms: 2_000 } });
  client = openaiClient(gateway, slug).withOptions({ maxRetries: RETRIES });
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

describe('a create of the official SDK with an unknown outcome', () => {
  const unknown: readonly (readonly [string, Reply])[] = [
    ['does not answer in time', silence],
    ['hangs up', hangUp],
    ['breaks off its answer', half('{"id":"batch_1","object":"batch"}')],
    ['returns an unreadable answer', text('<html>done</html>', 'text/html')],
  ];

  it.each(unknown)('sends a create once when the provider %s', async (_what, reply) => {
    gateway.provider.replyWith(reply);
    await expect(client.batches.create(BATCH)).rejects.toMatchObject({ code: expect.stringMatching(/^provider_/) });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it('sends an upload once when its outcome is unknown', async () => {
    gateway.provider.replyWith(silence);
    const upload = { file: await toFile(Buffer.from('{}\n'), 'a.jsonl'), purpose: 'batch' } as const;
    await expect(client.files.create(upload)).rejects.toMatchObject({ code: 'provider_timeout' });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it.each([429, 500, 503])('lets the SDK retry a create when the provider answers %i', async (status) => {
    gateway.provider.replyWith(json({ error: { message: 'not now' } }, status, { 'retry-after': '0' }));
    await expect(client.batches.create(BATCH)).rejects.toMatchObject({ headers: expect.anything() });
    expect(gateway.provider.calls).toHaveLength(1 + RETRIES);
  });
});

describe('requests that another try would not change', () => {
  it('sends a request once when the provider rejects the credential', async () => {
    gateway.provider.replyWith(json({ error: { message: 'no such key' } }, 401));
    await expect(client.batches.list()).rejects.toMatchObject({ code: 'provider_credential_rejected' });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it('sends a request once when the provider forbids retries, and returns its message', async () => {
    const refusal = { error: { message: 'You exceeded your current quota.', code: 'insufficient_quota' } };
    gateway.provider.replyWith(json(refusal, 429, { 'x-should-retry': 'false' }));
    const failed = client.batches.list();
    await expect(failed).rejects.toMatchObject({ status: 429, message: '429 You exceeded your current quota.' });
    expect(gateway.provider.calls).toHaveLength(1);
  });
});

it('shows the trace id as request id in SDK answers and errors', async () => {
  const headers = { 'x-gateway-trace-id': 'order-17' };
  gateway.provider.replyWith(json({ id: 'batch_1', object: 'batch' }, 200, { 'x-request-id': 'req_provider' }));
  expect(await client.batches.retrieve('batch_1', { headers })).toMatchObject({ _request_id: 'order-17' });
  gateway.provider.replyWith(json({ error: { message: 'no such batch' } }, 404));
  await expect(client.batches.retrieve('batch_2', { headers })).rejects.toMatchObject({ requestID: 'order-17' });
});
