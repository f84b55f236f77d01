// Chats, messages and embeddings under a limit in US dollars, at the prices that come with the gateway.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readObject } from '../src/common/json/read.js';
import { json } from './support/fake-provider.js';
import { plainly } from './support/openai-client.js';
import { errorIn, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const MESSAGES = [{ role: 'user', content: 'Hello' }];

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway();
});
beforeEach(async () => {
  await gateway.reset();
  await gateway.limit({ type: 'cost', credit_limit: 1 });
});
afterAll(() => gateway.close());

/** What a call costs, in billionths of a dollar. */
async function costOf(provider: string, path: string, body: object, usage: object, more = {}): Promise<number> {
  const ask = plainly(gateway, await gateway.virtualKey(provider));
  gateway.provider.replyWith(json({ ...more, usage }));
  const { status, text } = await ask('POST', path, { body });
  expect([status, text]).toEqual([200, JSON.stringify({ ...more, usage })]);
  const [row] = await gateway.books.ledger(1);
  return Number(row?.costNano);
}

describe('under a limit in US dollars, without a price set by hand', () => {
  it('charges a chat by its units', async () => {
    const body = { model: 'gpt-4o-mini-2024-07-18', max_tokens: 200, messages: MESSAGES };
    const usage = { prompt_tokens: 100, completion_tokens: 100, prompt_tokens_details: { cached_tokens: 40 } };
    // In dollars a million: 60 at 0.15, 40 from the cache at 0.075, 100 at 0.60.
    expect(await costOf('openai', '/chat/completions', body, usage)).toBe(9_000 + 3_000 + 60_000);
  });

  it('charges a message by its units', async () => {
    const content = [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }];
    const body = { model: 'claude-sonnet-4-5', max_tokens: 200, messages: [{ role: 'user', content }] };
    const usage = { input_tokens: 10, output_tokens: 100, cache_creation_input_tokens: 40 };
    // In dollars a million: 10 at 3, 40 into the cache at 3.75, 100 at 15.
    expect(await costOf('anthropic', '/messages', body, usage)).toBe(30_000 + 150_000 + 1_500_000);
  });

  it.each([
    ['priority', 'priority', 5_000 + 30_000],
    ['priority', 'default', 2_500 + 15_000],
    [undefined, 'priority', 5_000 + 30_000],
  ])('charges a chat that asks for %s as it was served: %s', async (service_tier, served, cost) => {
    const body = { model: 'gpt-5.4', max_tokens: 10, messages: MESSAGES, service_tier };
    const usage = { prompt_tokens: 1, completion_tokens: 1 };
    expect(await costOf('openai', '/chat/completions', body, usage, { service_tier: served })).toBe(cost);
    expect(await gateway.books.faults()).toEqual([]);
  });

  it('charges what a server writes to its cache unasked', async () => {
    const body = { model: 'claude-sonnet-4-5', max_tokens: 200, messages: MESSAGES };
    const usage = { input_tokens: 10, output_tokens: 0, cache_creation_input_tokens: 40 };
    expect(await costOf('anthropic', '/messages', body, usage)).toBe(30_000 + 150_000);
    expect(await gateway.books.faults()).toEqual([]);
  });

  it('charges what stays in a cache for an hour at its own price', async () => {
    const content = [{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral', ttl: '1h' } }];
    const body = { model: 'claude-sonnet-4-5', max_tokens: 200, messages: [{ role: 'user', content }] };
    const cache_creation = { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 30 };
    const usage = { input_tokens: 10, output_tokens: 0, cache_creation_input_tokens: 40, cache_creation };
    // In dollars a million: 10 at 3, 10 at 3.75, 30 at 6.
    expect(await costOf('anthropic', '/messages', body, usage)).toBe(30_000 + 37_500 + 180_000);
  });

  it('reserves a message at the price of what a server may write to its cache', async () => {
    const ask = plainly(gateway, await gateway.virtualKey('anthropic'));
    gateway.provider.replyWith(json({ usage: {} }));
    const body = JSON.stringify({ model: 'claude-sonnet-4-5', max_tokens: 0, messages: MESSAGES });
    // A token for each byte and 64 for the frame, at 3.75 dollars a million; at 3 they would fit.
    const dollars = (body.length + 64) * 0.000_003_7;
    await gateway.limit({ type: 'cost', credit_limit: Number(dollars.toFixed(9)) });
    expect(refusalOf(await ask('POST', '/messages', { body }))).toMatchObject({ code: 'usage_limit_exceeded' });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('charges what OpenAI writes to a cache by itself', async () => {
    const body = { model: 'gpt-5.6', max_output_tokens: 10, input: 'Hello' };
    const usage = { input_tokens: 20, input_tokens_details: { cache_write_tokens: 16 }, output_tokens: 0 };
    // In dollars a million: 4 at 4, 16 into the cache at 5.
    expect(await costOf('openai', '/responses', body, usage)).toBe(16_000 + 80_000);
  });

  it('reserves at the dearest mode in which a call may be served', async () => {
    await gateway.limit({ type: 'cost', credit_limit: 0.2 });
    const ask = plainly(gateway, await gateway.virtualKey('openai'));
    gateway.provider.replyWith(json({ usage: {} }));
    // 10,000 tokens at 15 dollars a million, or at 30.
    const body = { model: 'gpt-5.4', max_tokens: 10_000, messages: MESSAGES };
    expect(refusalOf(await ask('POST', '/chat/completions', { body }))).toMatchObject({ code: 'usage_limit_exceeded' });
    const plain = await ask('POST', '/chat/completions', { body: { ...body, service_tier: 'default' } });
    expect(plain.status).toBe(200);
    const twice = '{"service_tier":"default","service_tier":"priority","model":"gpt-5.4","max_tokens":1}';
    expect(refusalOf(await ask('POST', '/chat/completions', { body: twice }))).toMatchObject({ status: 400 });
  });

  it('charges the searches of a message', async () => {
    await gateway.reset();
    const body = { model: 'claude-sonnet-4-5', max_tokens: 20, messages: MESSAGES, tools: [{ type: 'web_search_1' }] };
    const usage = { input_tokens: 10, output_tokens: 1, server_tool_use: { web_search_requests: 2 } };
    // In dollars: 10 at 3 and 1 at 15 a million, and 2 searches at 0.01.
    expect(await costOf('anthropic', '/messages', body, usage)).toBe(30_000 + 15_000 + 20_000_000);
  });

  it('charges an embedding', async () => {
    const body = { model: 'text-embedding-3-small', input: 'Hello' };
    expect(await costOf('openai', '/embeddings', body, { prompt_tokens: 50 })).toBe(1_000);
  });

  it('bounds a chat without a cap by what its model can write', async () => {
    const body = { model: 'gpt-4o-mini', messages: MESSAGES };
    expect(await costOf('openai', '/chat/completions', body, { prompt_tokens: 1, completion_tokens: 1 })).toBe(750);
  });

  it.each(['azure-openai', 'azure-ai'])('charges a deployment of %s as the model behind it', async (provider) => {
    const usage = { prompt_tokens: 10, completion_tokens: 10 };
    gateway.provider.replyWith(json({ usage }));
    // Without a cap, it is bounded by what the model can write.
    const body = { model: 'our-chat', messages: MESSAGES };
    const named = plainly(gateway, await gateway.virtualKey(provider, { config: { base_model: 'gpt-4o-mini' } }));
    expect((await named('POST', '/chat/completions', { body })).status).toBe(200);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ model: 'our-chat' });
    expect(Number(row?.costNano)).toBe(1_500 + 6_000);
    const capped = { ...body, max_tokens: 10 };
    for (const [config, named] of [
      [{}, 'our-chat'],
      [{ base_model: 'no-model' }, 'no-model'],
    ] as const) {
      const ask = plainly(gateway, await gateway.virtualKey(provider, { config }));
      const answer = await ask('POST', '/chat/completions', { body: capped });
      expect(refusalOf(answer)).toMatchObject({ code: 'price_unknown' });
      expect(answer.text).toContain(`\\"model\\":\\"${named}\\"`);
    }
  });

  it('charges and bounds a target of a model route as the model that it names, before that of the virtual key', async () => {
    const usage = { prompt_tokens: 10, completion_tokens: 10 };
    const tuned = await gateway.virtualKey('openai');
    const deployed = await gateway.virtualKey('azure-openai', { config: { base_model: 'gpt-5.4' } });
    for (const [virtual_key, model] of [
      [tuned, 'ft:gpt-4o-mini:us:1'],
      [deployed, 'our-chat'],
    ]) {
      await gateway.reset();
      await gateway.limit({ type: 'cost', credit_limit: 1 });
      gateway.provider.replyWith(json({ usage }));
      const target = { virtual_key, model, base_model: 'gpt-4o-mini' };
      await gateway.admin.create('/v1/model-routes', { name: `route to ${model}`, targets: [target] });
      // Without a cap, it is bounded by what the model can write.
      const body = { model: `route to ${model}`, messages: MESSAGES };
      const answer = await gateway.admin.post('/v1/chat/completions', body);
      expect([answer.status, answer.headers['x-gateway-model']]).toEqual([200, model]);
      const [row] = await gateway.books.ledger(1);
      expect(row).toMatchObject({ model });
      expect(Number(row?.costNano)).toBe(1_500 + 6_000);
    }
  });

  it('refuses a target without a base model under a limit, and one whose base model has no price', async () => {
    const virtual_key = await gateway.virtualKey('openai');
    for (const base of [undefined, null, 'no-model']) {
      const model = `private-${String(base)}`;
      const target = { virtual_key, model, base_model: base };
      await gateway.admin.create('/v1/model-routes', { name: model, targets: [target] });
      const answer = await gateway.admin.post('/v1/chat/completions', { model, max_tokens: 1, messages: MESSAGES });
      expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'price_unknown' });
      expect(answer.text).toContain(`\\"model\\":\\"${base ?? model}\\"`);
    }
  });

  it('refuses a chat whose model has no bundled price', async () => {
    const ask = plainly(gateway, await gateway.virtualKey('openai'));
    const body = { model: 'gpt-4o-mini-tuned', max_tokens: 200, messages: MESSAGES };
    const answer = await ask('POST', '/chat/completions', { body });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'price_unknown' });
    expect(gateway.provider.calls).toEqual([]);
  });

  it.each([
    ['a chat', '/chat/completions', { max_tokens: 200, messages: MESSAGES }],
    ['a response', '/responses', { max_output_tokens: 200, input: 'Hello' }],
    ['an embedding', '/embeddings', { input: 'Hello' }],
  ])('names one price after the other, until %s passes', async (name, path, call) => {
    const ask = plainly(gateway, await gateway.virtualKey('openai-compatible'));
    const body = { model: `unpriced for ${name}`, ...call };
    const units: unknown[] = [];
    for (;;) {
      const answer = await ask('POST', path, { body });
      if (answer.status !== 412) break;
      const [, request = ''] = String(errorIn(answer)['message']).split('POST /v1/prices ');
      const named = readObject(JSON.parse(request), 'request');
      expect(units).not.toContain(named['unit']);
      units.push(named['unit']);
      await gateway.admin.create('/v1/prices', { ...named, price: '0.000001' });
    }
    expect(units).toEqual(path === '/embeddings' ? ['input'] : ['output', 'input']);
    expect(gateway.provider.calls).toHaveLength(1);
  });
});
