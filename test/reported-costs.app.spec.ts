// Providers whose answers say what they cost, as OpenRouter's do, and servers that do so where their virtual key says it.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readObject } from '../src/common/json/read.js';
import { json, onlyCall, text } from './support/fake-provider.js';
import { plainly } from './support/openai-client.js';
import { refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const COST = 0.000123;
const NANO = '123000';
const CHAT = { model: 'vendor/model', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] };

let gateway: UsageGateway;
let openrouter: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  openrouter = await gateway.virtualKey('openrouter');
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(json({ choices: [], usage: usageOf(COST) }));
});
afterAll(() => gateway.close());

function usageOf(cost: number, more: object = {}): object {
  const tokens = { prompt_tokens: 9, completion_tokens: 5, input_tokens: 9, output_tokens: 5 };
  return { ...tokens, cost, is_byok: false, cost_details: { upstream_inference_cost: cost }, ...more };
}

async function price(provider: string): Promise<void> {
  for (const unit of ['input', 'output'])
    await gateway.admin.create('/v1/prices', { provider, model: 'vendor/model', unit, price: '0.00001' });
}

describe('the cost that OpenRouter reports', () => {
  it.each([
    ['a chat', '/chat/completions', { choices: [], usage: usageOf(COST) }],
    ['a response', '/responses', { object: 'response', output: [], usage: usageOf(COST) }],
    ['a message', '/messages', { type: 'message', content: [], usage: usageOf(COST) }],
    ['a completion', '/completions', { choices: [], usage: usageOf(COST) }],
    ['an embedding', '/embeddings', { data: [], usage: usageOf(COST) }],
  ])('is charged for %s', async (_what, path, answer) => {
    gateway.provider.replyWith(json(answer));
    const { status, headers } = await plainly(gateway, openrouter)('POST', path, { body: { ...CHAT, input: 'Hi' } });
    expect([status, headers['x-gateway-cost']]).toEqual([200, '0.000123']);
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: NANO, source: 'provider' }]);
  });

  it('is charged for a stream, at whose end it is', async () => {
    const chunks = [{ choices: [{ delta: { content: 'Hi' } }] }, { choices: [], usage: usageOf(COST) }];
    const events = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((data) => `data: ${data}\n\n`);
    gateway.provider.replyWith(text(events.join(''), 'text/event-stream'));
    await plainly(gateway, openrouter)('POST', '/chat/completions', { body: { ...CHAT, stream: true } });
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: NANO, quantities: { input: 9, output: 5 } }]);
  });

  it('has the bill of the provider on top where the key is one’s own', async () => {
    const usage = usageOf(0.000006, { is_byok: true, cost_details: { upstream_inference_cost: COST } });
    gateway.provider.replyWith(json({ choices: [], usage }));
    await plainly(gateway, openrouter)('POST', '/chat/completions', { body: CHAT });
    expect(await gateway.books.ledger(1)).toMatchObject([{ costNano: '129000' }]);
  });

  it('gives way to the prices of the model, so that a limit counts what it has reserved', async () => {
    await price('openrouter');
    await gateway.limit({ type: 'cost', credit_limit: 1 });
    // By its prices, the call costs 14 tokens at $0.00001.
    for (const cost of [COST, 0.9]) {
      gateway.provider.replyWith(json({ choices: [], usage: usageOf(cost) }));
      const { headers } = await plainly(gateway, openrouter)('POST', '/chat/completions', { body: CHAT });
      expect(headers['x-gateway-cost']).toBe('0.00014');
    }
    expect(await gateway.books.ledger(2)).toMatchObject([
      { costNano: '140000', source: 'provider' },
      { costNano: '140000', source: 'provider' },
    ]);
    expect(await gateway.books.faults()).toEqual([]);
  });

  it('counts where the model has a price for a part of the call only', async () => {
    await gateway.admin.create('/v1/prices', { provider: 'openrouter', model: 'half', unit: 'input', price: '0.01' });
    const { headers } = await plainly(gateway, openrouter)('POST', '/chat/completions', {
      body: { ...CHAT, model: 'half' },
    });
    expect(headers['x-gateway-cost']).toBe('0.000123');
  });

  it('lets no call of a model without a price past a cost limit', async () => {
    await gateway.limit({ type: 'cost', credit_limit: 1, conditions: [{ key: 'model', value: 'other' }] });
    const answer = await plainly(gateway, openrouter)('POST', '/chat/completions', {
      body: { ...CHAT, model: 'other' },
    });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'price_unknown' });
    expect(gateway.provider.calls).toEqual([]);
  });
});

describe('a server of OpenAI’s API', () => {
  async function ask(config: object, path = '/chat/completions', body: object = CHAT) {
    return plainly(gateway, await gateway.virtualKey('openai-compatible', { config: { ...config } }))('POST', path, {
      body,
    });
  }

  it('does not say what a call costs, by default', async () => {
    await price('openai-compatible');
    expect((await ask({})).headers['x-gateway-cost']).toBe('0.00014');
  });

  it('says so where its virtual key says where', async () => {
    const body = { ...CHAT, model: 'without a price' };
    const { headers } = await ask({ cost_field: 'usage.cost' }, '/chat/completions', body);
    expect(headers['x-gateway-cost']).toBe('0.000123');
  });

  it.each([
    [{}, true],
    [{ stream_usage: 'ask' }, true],
    [{ stream_usage: 'never' }, false],
  ])('with %j is asked for the usage of a stream: %j', async (config, isAsked) => {
    await ask(config, '/chat/completions', { ...CHAT, stream: true });
    expect(onlyCall(gateway.provider).body.includes('include_usage')).toBe(isAsked);
  });

  it.each([
    [{}, 'max_tokens'],
    [{ cap_field: 'max_completion_tokens' }, 'max_completion_tokens'],
  ])('with %j gets the cap of a model route as %s', async (config, field) => {
    const virtual_key = await gateway.virtualKey('openai-compatible', { config });
    const targets = [{ virtual_key, model: 'm' }];
    const name = `capped-${field}`;
    await gateway.admin.create('/v1/model-routes', { name, targets, max_output_tokens: 50 });
    const headers = { 'x-gateway-virtual-key': undefined };
    await plainly(gateway, '')('POST', '/chat/completions', { body: { model: name, messages: [] }, headers });
    expect(readObject(JSON.parse(onlyCall(gateway.provider).body), 'the body')).toMatchObject({ [field]: 50 });
  });

  it.each([
    [{}, '/messages', undefined],
    [{ messages: 'native' }, '/messages', undefined],
    [{ messages: 'translate' }, '/chat/completions', 'messages-to-chat'],
  ])('with %j gets a message at %s', async (config, path, translated) => {
    const whole = { id: 'c', choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }], usage: usageOf(COST) };
    gateway.provider.replyWith(json(whole));
    const { headers } = await ask(config, '/messages');
    expect(onlyCall(gateway.provider).path).toBe(path);
    expect(headers['x-gateway-translated']).toBe(translated);
  });

  it.each([
    ['cost_field', 'usage.price'],
    ['stream_usage', 'always'],
    ['cap_field', 'max_output_tokens'],
    ['messages', 'none'],
    ['responses', true],
  ])('cannot have %s: %j', async (field, value) => {
    const config = { base_url: gateway.provider.url, [field]: value };
    const answer = await gateway.admin.post('/v1/virtual-keys', { name: 'X', provider: 'openai-compatible', config });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: `config.${field}` });
  });
});
