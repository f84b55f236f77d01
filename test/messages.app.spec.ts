// Messages in Anthropic's format, from a client through the gateway to a provider and back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { onlyCall, text } from './support/fake-provider.js';
import { PROVIDER_KEY } from './support/rerank-gateway.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const ANSWER =
  '{"type":"message", "content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","x":1.50,' +
  '"usage":{"input_tokens":9,"cache_read_input_tokens":4,"cache_creation_input_tokens":0,"output_tokens":5}}';
const BODY = '{"model":"claude", "max_tokens":100,"messages":[{"role":"user","content":"Hi \\u00e9"}]}';

let gateway: UsageGateway;
let slug: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  slug = await gateway.virtualKey('anthropic');
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(
    text(ANSWER, 'application/json', 200, { 'request-id': 'req_1', 'anthropic-ratelimit-x': '7' }),
  );
});
afterAll(() => gateway.close());

function post(body: string, headers: Readonly<Record<string, string>> = {}, path = '/v1/messages'): Promise<Answer> {
  const own = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY, 'x-gateway-virtual-key': slug };
  return send(gateway.app.url + path, { headers: { ...own, ...headers }, body });
}

function refusal(answer: Answer): unknown {
  return [answer.status, jsonOf(answer)['error']];
}

describe('a message', () => {
  it.each(['/v1/messages', '/v1/messages?beta=true', '/messages', '/anthropic/v1/messages'])(
    'passes byte for byte at %s, and is in the ledger',
    async (path) => {
      const answer = await post(BODY, { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'a,b' }, path);
      expect([answer.status, answer.text]).toEqual([200, ANSWER]);
      expect(answer.headers).toMatchObject({ 'request-id': 'req_1', 'anthropic-ratelimit-x': '7' });
      const call = onlyCall(gateway.provider);
      expect([call.path, call.body]).toEqual([`/v1/messages${new URL(path, 'http://x').search}`, BODY]);
      expect(call.headers).toMatchObject({
        'x-api-key': PROVIDER_KEY,
        'anthropic-version': '2026-10-21',
        'anthropic-beta': 'a,b',
      });
      const [row] = await gateway.books.ledger(1);
      expect(row).toMatchObject({ endpoint: 'messages', quantities: { input: 9, cache_read: 4, output: 5 } });
    },
  );

  it('names a version of the API where the caller names none', async () => {
    await post(BODY);
    expect(onlyCall(gateway.provider).headers['anthropic-version']).toBe('2023-06-01');
  });

  it('passes of the query what the provider knows, and nothing else', async () => {
    const azure = await gateway.virtualKey('azure-openai', { config: { api_version: '2024-10-21' } });
    const bedrock = await gateway.virtualKey('bedrock');
    for (const [virtualKey, path, query, passed] of [
      [slug, '/v1/messages', '?beta=true&key=x&api-version=1', '?beta=true'],
      [bedrock, '/v1/messages', '?beta=true', ''],
      [azure, '/v1/chat/completions', '?api-version=2025-04-01-preview&beta=true', '?api-version=2025-04-01-preview'],
      [azure, '/v1/chat/completions', '', '?api-version=2024-10-21'],
    ] as const) {
      gateway.provider.forget();
      const answer = await post(BODY, { 'x-gateway-virtual-key': virtualKey }, path + query);
      expect([query, answer.status]).toEqual([query, 200]);
      expect([query, new URL(onlyCall(gateway.provider).path, 'http://x').search]).toEqual([query, passed]);
    }
  });

  it.each(['?beta=a%20b', '?beta=', '?beta=true&beta=true'])(
    'refuses a query that cannot be one: %s',
    async (query) => {
      expect(refusal(await post(BODY, {}, `/v1/messages${query}`))).toMatchObject([
        400,
        { type: 'invalid_request_error', message: expect.stringContaining('beta') },
      ]);
      expect(gateway.provider.calls).toEqual([]);
    },
  );

  it('passes an error as the provider words it', async () => {
    const words = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_2"}';
    gateway.provider.replyWith(text(words, 'application/json', 529, { 'x-should-retry': 'true' }));
    const answer = await post(BODY);
    expect([answer.status, answer.text, answer.headers['x-should-retry']]).toEqual([529, words, 'true']);
  });
});

describe('a count of tokens', () => {
  it.each(['/v1/messages/count_tokens?beta=true', '/messages/count_tokens', '/anthropic/v1/messages/count_tokens'])(
    'passes at %s, and costs nothing',
    async (path) => {
      const body = '{"model":"claude", "messages":[]}';
      gateway.provider.replyWith(text('{"input_tokens": 7}', 'application/json'));
      const answer = await post(body, {}, path);
      expect([answer.status, answer.text]).toEqual([200, '{"input_tokens": 7}']);
      const call = onlyCall(gateway.provider);
      const { search } = new URL(path, 'http://x');
      expect([call.path, call.body]).toEqual([`/v1/messages/count_tokens${search}`, body]);
      expect(call.headers).toMatchObject({ 'anthropic-version': '2023-06-01' });
      expect(await gateway.books.ledger(0)).toEqual([]);
    },
  );

  it('is not there at a provider that has none, so that clients do without', async () => {
    const answer = await post(BODY, { 'x-gateway-virtual-key': gateway.cohere }, '/v1/messages/count_tokens');
    expect(refusal(answer)).toEqual([404, expect.objectContaining({ type: 'not_found_error' })]);
  });
});

describe('an error of the gateway', () => {
  it.each([
    ['a body without a cap', { body: '{"model":"m"}' }, 400, 'invalid_request_error', 'validation_failed'],
    [
      'a cap that comes twice',
      { body: '{"model":"m","max_tokens":1,"max_tokens":9}' },
      400,
      'invalid_request_error',
      'validation_failed',
    ],
    [
      'a key that is not known',
      { headers: { 'x-api-key': 'tg_nobody' } },
      401,
      'authentication_error',
      'api_key_invalid',
    ],
    ['two keys', { headers: { authorization: 'Bearer tg_other' } }, 401, 'authentication_error', 'api_key_invalid'],
    [
      'an unknown virtual key',
      { headers: { 'x-gateway-virtual-key': 'none' } },
      404,
      'not_found_error',
      'virtual_key_not_found',
    ],
    [
      'a body in a coding that is not known',
      { headers: { 'content-encoding': 'compress' } },
      415,
      'invalid_request_error',
      'unsupported_media_type',
    ],
  ])(
    'has the form of the API for %s',
    async (
      _what,
      { body = BODY, headers = {} }: { body?: string; headers?: Record<string, string> },
      status,
      type,
      code,
    ) => {
      const answer = await post(body, headers);
      expect(refusal(answer)).toEqual([
        status,
        expect.objectContaining({ type, details: expect.objectContaining({ error_code: code }) }),
      ]);
      expect(jsonOf(answer)['type']).toBe('error');
      expect(gateway.provider.calls).toEqual([]);
    },
  );

  it('is a billing error that forbids a retry where a limit is used up', async () => {
    await gateway.limit({ conditions: [{ key: 'endpoint', value: 'messages' }], type: 'tokens', credit_limit: 50 });
    const answer = await post(BODY);
    expect(refusal(answer)).toEqual([412, expect.objectContaining({ type: 'billing_error' })]);
    expect(answer.headers['x-should-retry']).toBe('false');
    expect(gateway.provider.calls).toEqual([]);
  });

  it('says which providers speak the dialect', async () => {
    const answer = await post(BODY, { 'x-gateway-virtual-key': gateway.cohere });
    expect(refusal(answer)).toEqual([400, expect.objectContaining({ message: expect.stringContaining('anthropic') })]);
  });
});
