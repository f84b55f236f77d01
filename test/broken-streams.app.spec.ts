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
    ends: ['data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', 'data: [DONE]\n\n'],
    failed: 'data: {"error":{"message":"Overloaded","type":"server_error"}}\n\n',
    name: 'error',
    error: { error: { code: 'provider_invalid_response', type: 'provider_error' } },
  },
  {
    path: '/v1/completions',
    event: 'data: {"choices":[{"index":0,"text":"Hi"}]}\n\n',
    ends: ['data: {"choices":[{"text":"","finish_reason":"length"}]}\n\n', 'data: {"content":"","stop":true}\n\n'],
    failed: 'data: {"error":{"message":"Overloaded","type":"server_error"}}\n\n',
    name: 'error',
    error: { error: { code: 'provider_invalid_response' } },
  },
  {
    path: '/v1/responses',
    event: 'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hi"}\n\n',
    ends: ['completed', 'incomplete', 'failed'].map(
      (status) => `data: {"type":"response.${status}","response":{"status":"${status}"}}\n\n`,
    ),
    failed: 'event: error\ndata: {"type":"error","code":"server_error","message":"Overloaded","param":null}\n\n',
    name: 'response.failed',
    error: {
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'provider_invalid_response' } },
    },
  },
  {
    path: '/v1/messages',
    event: 'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"text":"Hi"}}\n\n',
    ends: ['event: message_stop\ndata: {"type":"message_stop"}\n\n'],
    failed: 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
    name: 'error',
    error: { type: 'error', error: { details: { error_code: 'provider_invalid_response' } } },
  },
] as const;

function whole(text: string): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
  };
}

describe.each(DIALECTS)('a stream at $path', ({ path, event, ends, failed, name, error }) => {
  it('ends with an error of its dialect and a broken connection when the provider breaks off', async () => {
    gateway.provider.replyWith(brokenAfter(event));
    const { text, end } = await ask(path);
    expect(end).toBe('broken');
    expect(text.startsWith(event)).toBe(true);
    const [head, data] = text.slice(event.length).split('\n\n').at(-2)?.split('\ndata: ') ?? [];
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

  it.each(ends)('is passed on as it is when it ends with %j', async (end) => {
    gateway.provider.replyWith(whole(event + end));
    expect(await ask(path)).toMatchObject({ status: 200, text: event + end, end: 'whole' });
    expect(await gateway.books.ledger(1)).toMatchObject([{ outcome: 'answered' }]);
  });

  it.each([
    ['after its output', event],
    ['without any event', ''],
    ['after an error', event + failed],
  ])('is broken when the provider ends it %s, without its end mark', async (_what, text) => {
    gateway.provider.replyWith(whole(text));
    const read = await ask(path);
    expect(read).toMatchObject({ status: 200, end: 'broken' });
    expect(read.text.slice(text.length).split('\n\n').at(-2)).toMatch(`event: ${name}\n`);
    expect(read.text.startsWith(`${text}event: `)).toBe(true);
    expect(await gateway.books.ledger(1)).toMatchObject([{ outcome: 'unknown' }]);
  });

  it.each(['[DONE]', 'data: [DONE]', 'message_stop', 'response.completed'])(
    'is broken when the model writes %s and nothing follows',
    async (words) => {
      gateway.provider.replyWith(whole(event.replace('Hi', words)));
      expect(await ask(path)).toMatchObject({ status: 200, end: 'broken' });
    },
  );

  it('is passed on as it is when it is an error and nothing else', async () => {
    gateway.provider.replyWith(whole(failed));
    expect(await ask(path)).toMatchObject({ status: 200, text: failed, end: 'whole' });
    expect(await gateway.books.ledger(1)).toMatchObject([{ quantities: {} }]);
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

// The SDK of responses refuses an event about another one than has begun, and hides why the stream has failed.
describe('a response that fails in its stream', () => {
  it.each([
    ['is the one that has begun', 'resp_7', ['response.created', 'response.failed']],
    ['begins, where none has', undefined, ['response.created', 'response.failed']],
  ])('%s', async (_what, id, types) => {
    const created = { type: 'response.created', sequence_number: 0, response: { id, object: 'response' } };
    const begun = id === undefined ? '' : `event: response.created\ndata: ${JSON.stringify(created)}\n\n`;
    gateway.provider.replyWith(brokenAfter(`${begun}: a comment\n\n`));
    const { text } = await ask('/v1/responses');
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
    expect(events.map(({ type }) => type)).toEqual(types);
    const ids = events.map(({ response }) => response.id);
    expect(ids).toStrictEqual([id ?? expect.stringMatching(/^resp_./), ids[0]]);
  });
});
