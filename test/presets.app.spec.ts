// Providers that are an address of OpenAI's API: from a virtual key to the request that the provider gets.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, onlyCall } from './support/fake-provider.js';
import { plainly } from './support/openai-client.js';
import { PROVIDER_KEY } from './support/rerank-gateway.js';
import { refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const USAGE = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
const CHAT = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway();
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(json({ choices: [], usage: USAGE }));
});
afterAll(() => gateway.close());

describe('a preset', () => {
  it.each(['gemini', 'groq', 'mistral', 'deepseek', 'xai', 'together', 'fireworks', 'openrouter'])(
    'of %s passes a chat on, with its key, and counts it',
    async (provider) => {
      const ask = plainly(gateway, await gateway.virtualKey(provider));
      const body = '{"model":"m", "max_tokens":10,"messages":[],"x":1.50}';
      expect((await ask('POST', '/chat/completions', { body })).status).toBe(200);
      const call = onlyCall(gateway.provider);
      expect([call.path, call.body]).toEqual(['/chat/completions', body]);
      expect(call.headers).toMatchObject({ authorization: `Bearer ${PROVIDER_KEY}` });
      const [row] = await gateway.books.ledger(1);
      expect(row).toMatchObject({ provider, quantities: { input: 9, output: 5 } });
    },
  );

  it.each(['ollama', 'vllm', 'lm-studio'])('of %s needs no key', async (provider) => {
    const config = { base_url: `${gateway.provider.url}/v1` };
    const { slug } = await gateway.admin.create('/v1/virtual-keys', { name: provider, provider, config });
    expect((await plainly(gateway, String(slug))('POST', '/chat/completions', { body: CHAT })).status).toBe(200);
    expect(onlyCall(gateway.provider).headers).not.toHaveProperty('authorization');
  });

  it('of another provider is refused without a key', async () => {
    const answer = await gateway.admin.post('/v1/virtual-keys', { name: 'Groq', provider: 'groq' });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'key' });
  });

  it('is not asked for the usage of streams where it reports that unasked', async () => {
    const body = JSON.stringify({ ...CHAT, stream: true });
    for (const [provider, sent] of [
      ['mistral', body],
      ['groq', expect.stringContaining('"include_usage":true')],
    ] as const) {
      await plainly(gateway, await gateway.virtualKey(provider))('POST', '/chat/completions', { body });
      expect(onlyCall(gateway.provider).body).toEqual(sent);
      gateway.provider.forget();
    }
  });

  it('has the thoughts of Gemini in the output', async () => {
    gateway.provider.replyWith(json({ choices: [], usage: { ...USAGE, total_tokens: 20 } }));
    await plainly(gateway, await gateway.virtualKey('gemini'))('POST', '/chat/completions', { body: CHAT });
    const [row] = await gateway.books.ledger(1);
    expect(row?.quantities).toMatchObject({ input: 9, output: 11 });
  });

  it('passes messages on where its provider takes them', async () => {
    const ask = plainly(gateway, await gateway.virtualKey('deepseek'));
    expect((await ask('POST', '/messages', { body: CHAT })).status).toBe(200);
    expect(onlyCall(gateway.provider).path).toBe('/anthropic/v1/messages');
  });

  it('refuses what its provider does not offer', async () => {
    const ask = plainly(gateway, await gateway.virtualKey('mistral'));
    const answer = await ask('POST', '/completions', { body: { model: 'm', prompt: 'Hello' } });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'provider_not_supported' });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('of vLLM reranks', async () => {
    gateway.provider.replyWith(json({ results: [{ index: 0, relevance_score: 0.5 }] }));
    const slug = await gateway.virtualKey('vllm');
    const answer = await gateway.rerank(slug, { model: 'm', query: 'q', documents: ['d'] });
    expect(answer.status).toBe(200);
    expect(onlyCall(gateway.provider).path).toBe('/rerank');
  });

  it('is known to policies, and has bundled prices', async () => {
    const conditions = [{ key: 'provider', value: 'groq' }];
    await gateway.limit({ conditions, type: 'cost', credit_limit: 1 });
    const ask = plainly(gateway, await gateway.virtualKey('groq'));
    const body = { ...CHAT, model: 'llama-3.1-8b-instant' };
    expect((await ask('POST', '/chat/completions', { body })).status).toBe(200);
    const [row] = await gateway.books.ledger(1);
    // 9 tokens at 0.05, and 5 at 0.08 dollars a million
    expect(String(row?.costNano)).toBe('850');
    expect(refusalOf(await ask('POST', '/chat/completions', { body: CHAT }))).toMatchObject({ code: 'price_unknown' });
  });
});

describe('Azure AI Foundry', () => {
  it.each([
    ['/chat/completions', '/openai/v1/chat/completions'],
    ['/embeddings', '/openai/v1/embeddings'],
    ['/messages', '/anthropic/v1/messages'],
  ])('gets %s at %s', async (path, at) => {
    const slug = await gateway.virtualKey('azure-ai', { config: { auth: 'api-key' } });
    const body = { ...CHAT, input: 'Hello' };
    expect((await plainly(gateway, slug)('POST', path, { body })).status).toBe(200);
    const call = onlyCall(gateway.provider);
    expect(call.path).toBe(at);
    expect(call.headers).toMatchObject({ 'api-key': PROVIDER_KEY });
  });
});

describe('Amazon Bedrock', () => {
  it('takes chats, responses and messages, signed, and counts them', async () => {
    const slug = await gateway.virtualKey('bedrock');
    const ask = plainly(gateway, slug);
    const usage = { input_tokens: 9, output_tokens: 5 };
    for (const [path, at, answer, more] of [
      ['/chat/completions', '/v1/chat/completions', { choices: [], usage: USAGE }, { messages: [] }],
      ['/responses', '/v1/responses', { usage }, { input: 'Hello', max_output_tokens: 10 }],
      ['/messages', '/anthropic/v1/messages', { usage }, { messages: [] }],
    ] as const) {
      gateway.provider.forget();
      gateway.provider.replyWith(json(answer));
      const body = JSON.stringify({ model: 'openai.gpt-oss-120b', max_tokens: 10, ...more });
      expect((await ask('POST', path, { body })).status).toBe(200);
      const call = onlyCall(gateway.provider);
      expect([call.path, call.body]).toEqual([at, body]);
      expect(call.headers['authorization']).toMatch(/^AWS4-HMAC-SHA256 .*\/us-east-1\/bedrock-mantle\/aws4_request/);
    }
    const rows = await gateway.books.ledger(3);
    expect(rows.map(({ quantities }) => quantities)).toMatchObject(Array(3).fill({ input: 9, output: 5 }));
  });

  it('has no embeddings in these forms', async () => {
    const ask = plainly(gateway, await gateway.virtualKey('bedrock'));
    const answer = await ask('POST', '/embeddings', { body: { model: 'm', input: 'Hello' } });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'provider_not_supported' });
  });
});
