// Calls that bring their targets in the header `x-portkey-config`, as Portkey's clients do.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeProvider, json, onlyCall, startFakeProvider, text } from './support/fake-provider.js';
import { type Answer, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const ANSWER = '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}';

let gateway: UsageGateway;
let second: FakeProvider;
let one: string;
let two: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  second = await startFakeProvider();
  one = await gateway.virtualKey('openai-compatible');
  two = await gateway.virtualKey('openai-compatible', { config: { base_url: second.url } });
});
beforeEach(async () => {
  await gateway.reset();
  for (const provider of [gateway.provider, second]) {
    provider.forget();
    provider.replyWith(text(ANSWER, 'application/json'));
  }
});
afterAll(async () => {
  await gateway.close();
  await second.close();
});

function chat(config: object, { client = gateway.admin, model = 'm' } = {}): Promise<Answer> {
  const headers = { 'x-portkey-config': JSON.stringify(config), 'x-gateway-metadata': '{"tier":"gold"}' };
  return client.post('/v1/chat/completions', { model, messages: [], max_tokens: 1 }, headers);
}

function fallback(...targets: readonly object[]): object {
  return { strategy: { mode: 'fallback' }, targets };
}

function condition(query: unknown, target: string): unknown {
  return JSON.parse(`{"query":${JSON.stringify(query)},"then":"${target}"}`);
}

describe('a call with a config', () => {
  it('falls back to the next target, under the model that is set there', async () => {
    gateway.provider.replyWith(json({ error: { message: 'no' } }, 503));
    const answer = await chat(
      fallback({ virtual_key: one }, { provider: `@${two}`, override_params: { model: 'big' } }),
    );
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'x-gateway-virtual-key-used': two,
      'x-gateway-model': 'big',
      'x-gateway-attempts': '2',
    });
    expect(JSON.parse(onlyCall(second).body)).toMatchObject({ model: 'big' });
  });

  it.each([
    ['/v1/chat/completions', { messages: [] }],
    ['/v1/rerank', { query: 'q', documents: ['d'] }],
  ])('may leave its model to the config, at %s', async (path, body) => {
    const targets = [one, two].map((virtual_key, at) => ({ virtual_key, override_params: { model: `m-${at}` } }));
    const headers = { 'x-portkey-config': JSON.stringify(fallback(...targets)) };
    gateway.provider.replyWith(json({ error: { message: 'no' } }, 503));
    second.replyWith(json({ choices: [], results: [] }));
    const answer = await gateway.admin.post(path, body, headers);
    expect([answer.status, answer.headers['x-gateway-attempts']]).toEqual([200, '2']);
    const sent = [gateway.provider, second].map((provider) => JSON.parse(onlyCall(provider).body).model);
    expect(sent).toEqual(['m-0', 'm-1']);
  });

  it('sends no model where calls have none', async () => {
    gateway.provider.replyWith(json({ id: 'vs_1', object: 'vector_store' }));
    const config = JSON.stringify({ virtual_key: one, override_params: { model: 'm' } });
    await gateway.admin.post('/v1/vector_stores', { name: 'files' }, { 'x-portkey-config': config });
    expect(onlyCall(gateway.provider).body).not.toContain('model');
  });

  it.each([
    ['/v1/chat/completions', { messages: [], max_tokens: 1 }],
    ['/v1/chat/completions', { messages: [], max_tokens: 1, stream: true }],
    ['/v1/rerank', { query: 'q', documents: ['d'] }],
  ])('waits for a target as long as request_timeout says, at %s', async (path, body) => {
    gateway.provider.replyWith(() => undefined);
    second.replyWith(json({ choices: [], results: [] }));
    const config = {
      ...fallback({ virtual_key: one, request_timeout: 200 }, { virtual_key: two }),
      request_timeout: 9_000,
    };
    const headers = { 'x-portkey-config': JSON.stringify(config) };
    const answer = await gateway.admin.post(path, { model: 'slow', ...body }, headers);
    expect([answer.status, answer.headers['x-gateway-attempts']]).toEqual([200, '2']);
    const alone = JSON.stringify({ virtual_key: one, request_timeout: 200 });
    const late = await gateway.admin.post(path, { model: 'slow', ...body }, { 'x-portkey-config': alone });
    expect(refusalOf(late)).toMatchObject({ status: 504, code: 'provider_timeout' });
  });

  it('does not send a bad request to the next target', async () => {
    gateway.provider.replyWith(json({ error: { message: 'bad' } }, 400));
    expect((await chat(fallback({ virtual_key: one }, { virtual_key: two }))).status).toBe(400);
    expect(second.calls).toEqual([]);
  });

  it('goes where its metadata say, whatever virtual key a header names', async () => {
    const conditions = [condition({ 'metadata.tier': { $eq: 'gold' } }, 'paid')];
    const targets = [
      { name: 'free', virtual_key: one },
      { name: 'paid', virtual_key: two },
    ];
    const config = { strategy: { mode: 'conditional', conditions, default: 'free' }, targets };
    expect((await chat(config)).headers['x-gateway-virtual-key-used']).toBe(two);
  });

  it('goes as without one where the config names no virtual key', async () => {
    const answer = await chat({ retry: { attempts: 2 } }, { model: `@${one}/m` });
    expect(answer.headers['x-gateway-virtual-key-used']).toBe(one);
  });

  it('goes to the virtual key that the client names as its provider', async () => {
    const headers = { 'x-portkey-provider': `@${two}`, 'x-portkey-config': '{"retry":{"attempts":2}}' };
    const body = { model: 'm', messages: [], max_tokens: 1 };
    const answer = await gateway.admin.post('/v1/chat/completions', body, headers);
    expect(answer.headers['x-gateway-virtual-key-used']).toBe(two);
    const both = { ...headers, 'x-portkey-virtual-key': one };
    const other = await gateway.admin.post('/v1/chat/completions', body, both);
    expect(other.headers['x-gateway-virtual-key-used']).toBe(one);
  });

  it.each(['openai', '@'])('goes by its model where the client names the provider %s', async (provider) => {
    const body = { model: `@${one}/m`, messages: [], max_tokens: 1 };
    const answer = await gateway.admin.post('/v1/chat/completions', body, { 'x-portkey-provider': provider });
    expect(answer.headers['x-gateway-virtual-key-used']).toBe(one);
  });

  it('holds for calls without a model', async () => {
    gateway.provider.replyWith(json({ object: 'list', data: [] }));
    const answer = await gateway.admin.get('/v1/files', { 'x-portkey-config': JSON.stringify({ virtual_key: one }) });
    expect(answer.headers['x-gateway-virtual-key-used']).toBe(one);
  });
});

describe('a config gives no rights', () => {
  it('to virtual keys and models that the key may not use, by any name', async () => {
    const { client } = await gateway.admin.createKey({
      scopes: ['completions.write'],
      allowed_virtual_keys: [one],
      allowed_models: ['m'],
    });
    const refusals = [
      await chat({ virtual_key: two }, { client }),
      await chat({ virtual_key: one, override_params: { model: 'big' } }, { client }),
      await chat(fallback({ virtual_key: one, override_params: { model: 'big' } }), { client }),
    ];
    for (const answer of refusals) expect(refusalOf(answer)).toMatchObject({ status: 403, code: 'model_not_allowed' });
    expect([...gateway.provider.calls, ...second.calls]).toEqual([]);
    expect((await chat({ virtual_key: one }, { client })).status).toBe(200);
  });

  it('and takes no address, no credential and no unknown virtual key', async () => {
    const unknown = refusalOf(await chat({ virtual_key: 'nowhere' }));
    expect(unknown).toMatchObject({ status: 404, code: 'virtual_key_not_found', param: 'x-portkey-config' });
    for (const request_timeout of ['9', -1, 0.5, 1e9]) {
      const refusal = refusalOf(await chat({ virtual_key: one, request_timeout }));
      expect(refusal).toMatchObject({ status: 400, param: 'x-portkey-config.request_timeout' });
    }
    for (const member of ['api_key', 'custom_host', 'aws_access_key_id', 'forward_headers']) {
      const refusal = refusalOf(await chat({ virtual_key: one, [member]: 'x' }));
      expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', param: `x-portkey-config.${member}` });
    }
  });
});
