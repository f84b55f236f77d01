// Streams of models that end before their end mark: their clients must not take them for whole.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reply } from './support/fake-provider.js';
import { readStream, type StreamRead } from './support/read-stream.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

let gateway: UsageGateway;
let slug: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  slug = await gateway.virtualKey('openai-compatible');
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
});
afterAll(() => gateway.close());

function ask(path: string): Promise<StreamRead> {
  const headers = { 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': slug };
  const isResponse = path.endsWith('/responses');
  const input = isResponse ? { input: '', max_output_tokens: 20 } : { messages: [], prompt: '', max_tokens: 20 };
  return readStream(gateway.app.url + path, headers, { model: 'm', stream: true, ...input });
}

/** Sends a text, and breaks off. */
function brokenAfter(text: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => setTimeout(() => response.destroy(), 50));
  };
}

const DIALECTS = [
  {
    path: '/v1/chat/completions',
    event: 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n',
    name: 'error',
    error: { error: { code: 'provider_invalid_response', type: 'provider_error' } },
  },
  {
    path: '/v1/completions',
    event: 'data: {"choices":[{"index":0,"text":"Hi"}]}\n\n',
    name: 'error',
    error: { error: { code: 'provider_invalid_response' } },
  },
  {
    path: '/v1/responses',
    event: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hi"}\n\n',
    name: 'response.failed',
    error: {
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'provider_invalid_response' } },
    },
  },
  {
    path: '/v1/messages',
    event: 'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"Hi"}}\n\n',
    name: 'error',
    error: { type: 'error', error: { details: { error_code: 'provider_invalid_response' } } },
  },
] as const;

describe.each(DIALECTS)('a stream at $path', ({ path, event, name, error }) => {
  it('ends with an error of its dialect and a broken connection when the provider breaks off', async () => {
    gateway.provider.replyWith(brokenAfter(event));
    const { text, end } = await ask(path);
    expect(end).toBe('broken');
    expect(text.startsWith(event)).toBe(true);
    const [head, data] = text.slice(event.length).split('\ndata: ');
    expect(head).toBe(`event: ${name}`);
    expect(JSON.parse(data ?? '')).toMatchObject(error);
    expect(text).not.toContain('[DONE]');
    expect(await gateway.books.ledger(1)).toMatchObject([{ outcome: 'unknown' }]);
  });

  it('never has the error within an event that broke off', async () => {
    gateway.provider.replyWith(brokenAfter(event + event.slice(0, -10)));
    const { text, end } = await ask(path);
    expect(end).toBe('broken');
    for (const part of text.split('\n\n').filter((part) => part.includes(name))) expect(part).toMatch(/^event: /);
  });

  it('ends as the provider ends it', async () => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(event);
    });
    expect(await ask(path)).toEqual({ status: 200, text: event, end: 'whole' });
  });

  it('ends with the refusal when a usage limit has no room for more', async () => {
    const endpoint = path.split('/')[2];
    await gateway.limit({ conditions: [{ key: 'endpoint', value: endpoint }], type: 'tokens', credit_limit: 400 });
    const words = event.replace('Hi', 'x'.repeat(500));
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const more = setInterval(() => response.write(words), 20);
      response.on('close', () => clearInterval(more));
    });
    const { text, end } = await ask(path);
    expect(end).toBe('broken');
    expect(text).toContain(`event: ${name}\n`);
    expect(text).toContain('usage_limit_exceeded');
    expect(await gateway.books.faults()).toEqual([]);
  });
});
