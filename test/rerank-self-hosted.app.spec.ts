import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readObject, readString } from '../src/common/json/read.js';
import { json, onlyCall } from './support/fake-provider.js';
import { jsonOf, refusalOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const BODY = { model: 'BAAI/bge', query: 'q', documents: ['a', { text: 'b', id: 7 }] };
const SENT = { model: 'BAAI/bge', query: 'q', documents: ['a', 'b'] };
const BEST_FIRST = [
  { index: 1, relevance_score: 0.9 },
  { index: 0, relevance_score: 0.1 },
];

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway();
});
afterAll(() => gateway.close());
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(
    json([
      { index: 0, score: 0.1 },
      { index: 1, score: 0.9 },
    ]),
  );
});

/** A virtual key without the provider's key, for the fake provider; returns its slug. */
async function server(path: string, config: object = {}): Promise<string> {
  const fields = { name: 'own', provider: 'openai-compatible' };
  const base_url = gateway.provider.url + path;
  return readString(
    (await gateway.admin.create('/v1/virtual-keys', { ...fields, config: { base_url, ...config } }))['slug'],
    'slug',
  );
}

const sent = (): unknown[] => {
  const { path, headers, body } = onlyCall(gateway.provider);
  return [path, headers.authorization, JSON.parse(body)];
};

describe('a rerank server of one’s own', () => {
  it.each([
    ['/v1', '/v1/rerank'],
    ['', '/rerank'],
    ['/v1/rerank', '/v1/rerank'],
    ['/rerank/', '/rerank'],
  ])('is called at its address, with the base URL %j and without a key', async (path, address) => {
    const answer = await gateway.rerank(await server(path), BODY);
    expect([answer.status, jsonOf(answer)['results']]).toEqual([200, BEST_FIRST]);
    expect(sent()).toEqual([address, undefined, SENT]);
  });

  it('is sent its key, when there is one', async () => {
    const slug = await gateway.virtualKey('openai-compatible', { path: '/v1' });
    await gateway.rerank(slug, BODY);
    expect(onlyCall(gateway.provider).headers.authorization).toMatch(/^Bearer /);
  });

  it('is sent texts in the form of Text Embeddings Inference, and its results are cut', async () => {
    const slug = await server('', { rerank_format: 'tei' });
    const answer = await gateway.rerank(slug, { ...BODY, top_n: 1, truncate: true, return_documents: true });
    expect(jsonOf(answer)).toMatchObject({
      results: [{ ...BEST_FIRST[0], document: { text: 'b', id: 7 } }],
      model: 'BAAI/bge',
      provider: 'openai-compatible',
    });
    expect(sent()).toEqual(['/rerank', undefined, { query: 'q', texts: ['a', 'b'], truncate: true }]);
  });

  it('receives options of other rerank APIs as they are, and others are named in a warning', async () => {
    const answer = await gateway.rerank(await server('/v1'), { ...BODY, instruction: 'find', priority: 1 });
    expect(answer.headers['x-gateway-warnings']).toBe(
      'unsupported_parameter; param=priority; provider=openai-compatible',
    );
    expect(sent()[2]).toEqual({ ...SENT, instruction: 'find' });
  });

  it('can answer with its own error', async () => {
    const refusal = { error: 'Input validation error', error_type: 'Validation' };
    gateway.provider.replyWith(json(refusal, 413));
    const answer = await gateway.rerank(await server('/v1'), BODY);
    expect(refusalOf(answer)).toMatchObject({ status: 413, code: 'provider_rejected' });
  });

  it.each([[[]], [{}], [{ results: [{ index: 5, score: 1 }] }]])(
    'is not believed when it answers %j',
    async (reply) => {
      gateway.provider.replyWith(json(reply));
      const answer = await gateway.rerank(await server('/v1'), BODY);
      expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_invalid_response' });
    },
  );

  it('needs a price under a limit on costs only, and the refusal has the request that sets it', async () => {
    const slug = await server('/v1');
    const limited = { ...BODY, model: 'own-model' };
    await gateway.limit({ type: 'tokens', credit_limit: 100_000 });
    expect((await gateway.rerank(slug, limited)).status).toBe(200);
    await gateway.limit({ credit_limit: 1 });
    const refused = await gateway.rerank(slug, limited);
    expect(refusalOf(refused)).toMatchObject({ status: 412, code: 'price_unknown', param: 'model' });
    const message = readString(readObject(jsonOf(refused)['error'], 'error')['message'], 'message');
    const [, price = ''] = /POST \/v1\/prices (\{.*\})$/.exec(message) ?? [];
    await gateway.admin.create('/v1/prices', { ...readObject(JSON.parse(price), 'price'), price: '0.000001' });
    gateway.provider.replyWith(json({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 7 } }));
    expect((await gateway.rerank(slug, limited)).status).toBe(200);
    const [, row] = await gateway.books.ledger(2);
    expect(row).toMatchObject({ costNano: '7000', quantities: { input: 7 } });
  });
});
