import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { inTurn, json, onlyCall } from './support/fake-provider.js';
import {
  AWS_ACCESS_KEY_ID,
  BEDROCK_MODEL,
  PROVIDER_KEY,
  startRerankGateway,
  type RerankGateway,
} from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';

const BEARER = { authorization: `Bearer ${PROVIDER_KEY}` };
const API_KEY = { 'api-key': PROVIDER_KEY };
const REFUSED_MODEL = { status: 400, code: 'validation_failed', param: 'model', source: 'gateway' };

let gateway: RerankGateway;

beforeAll(async () => {
  gateway = await startRerankGateway();
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

describe('rerank through Azure AI, by the form of base_url', () => {
  const body = { model: 'cohere.m', query: 'q', documents: ['a'] };

  it.each([
    ['a bare host', '', {}, '/v2/rerank', BEARER],
    ['the older version', '/v1', {}, '/v1/rerank', BEARER],
    ['a Foundry path', '/providers/cohere', { auth: 'api-key' }, '/providers/cohere/v2/rerank', API_KEY],
    [
      'a Foundry path with version',
      '/providers/cohere/v2',
      { auth: 'api-key' },
      '/providers/cohere/v2/rerank',
      API_KEY,
    ],
    ['the whole address', '/some/v1/rerank', {}, '/some/v1/rerank', BEARER],
  ])('sends an Azure AI rerank to the right path for %s', async (_form, path, config, expectedPath, headers) => {
    gateway.provider.replyWith(json({ results: [] }));
    expect((await gateway.rerank(await gateway.virtualKey('azure-ai', { path, config }), body)).status).toBe(200);
    expect(onlyCall(gateway.provider).path).toBe(expectedPath);
    expect(onlyCall(gateway.provider).headers).toMatchObject(headers);
    expect(
      Object.keys(onlyCall(gateway.provider).headers).filter((name) => ['api-key', 'authorization'].includes(name)),
    ).toHaveLength(1);
  });

  it('refuses an empty model name after the prefix without calling Azure AI', async () => {
    const refused = await gateway.rerank(await gateway.virtualKey('azure-ai'), { ...body, model: 'cohere.' });
    expect(refusalOf(refused)).toEqual(REFUSED_MODEL);
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('rerank through Bedrock', () => {
  const body = { model: BEDROCK_MODEL, query: 'q', documents: ['a', 'b'] };

  it('signs each Bedrock request for service, region and body', async () => {
    gateway.provider.replyWith(json({ results: [] }));
    await gateway.rerank(await gateway.virtualKey('bedrock'), body);
    const { headers, body: sent } = onlyCall(gateway.provider);
    const scope = `${AWS_ACCESS_KEY_ID}/${String(headers['x-amz-date']).slice(0, 8)}/us-east-1/bedrock/aws4_request`;
    expect(headers.authorization).toContain(`AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=`);
    expect(headers['x-amz-content-sha256']).toBe(createHash('sha256').update(sent).digest('hex'));
  });

  it('joins the pages of a Bedrock answer', async () => {
    const [first, second] = [0, 1].map((index) => ({ index, relevanceScore: index / 10 }));
    gateway.provider.replyWith(inTurn(json({ results: [first], nextToken: 't-1' }), json({ results: [second] })));
    const answered = jsonOf(await gateway.rerank(await gateway.virtualKey('bedrock'), body));
    expect(answered['results']).toEqual([
      { index: 1, relevance_score: 0.1 },
      { index: 0, relevance_score: 0 },
    ]);
    expect(gateway.provider.calls.map((call) => JSON.parse(call.body).nextToken)).toEqual([undefined, 't-1']);
  });

  it.each([
    ['enough results have come', { top_n: 1 }, [{ index: 1, nextToken: 't-1' }], 1],
    [
      'every document has a score',
      {},
      [
        { index: 1, nextToken: 't-1' },
        { index: 0, nextToken: 't-2' },
      ],
      2,
    ],
    [
      'a token comes again',
      {},
      [
        { index: 1, nextToken: 't-1' },
        { index: 2, nextToken: 't-1' },
      ],
      2,
    ],
    [
      'a page brings no new document',
      {},
      [
        { index: 1, nextToken: 't-1' },
        { index: 1, nextToken: 't-2' },
      ],
      2,
    ],
    ['a page has no results', {}, [{ index: undefined, nextToken: 't-1' }], 1],
  ] as const)('asks Bedrock for no further page when %s', async (_when, more, pages, calls) => {
    const replies = pages.map(({ index, nextToken }) =>
      json({ results: index === undefined ? [] : [{ index, relevanceScore: 0.5 }], nextToken }),
    );
    gateway.provider.replyWith(inTurn(...replies));
    const documents = calls === 2 && pages[1]?.index !== 0 ? ['a', 'b', 'c', 'd'] : ['a', 'b'];
    const answer = await gateway.rerank(await gateway.virtualKey('bedrock'), { ...body, documents, ...more });
    expect([answer.status, gateway.provider.calls.length]).toEqual([200, calls]);
  });

  it('applies one timeout to all pages of a Bedrock answer', async () => {
    let index = 0;
    gateway.provider.replyWith((response, call) => {
      const page = json({ results: [{ index, relevanceScore: 0.5 }], nextToken: `more-${index}` });
      index += 1;
      setTimeout(() => page(response, call), 80);
    });
    const virtualKey = await gateway.virtualKey('bedrock', { config: { timeout_ms: 400 } });
    const refused = await gateway.rerank(virtualKey, { ...body, documents: Array.from({ length: 50 }, () => 'a') });
    expect(refusalOf(refused)).toMatchObject({ status: 504, code: 'provider_timeout' });
    expect(gateway.provider.calls.length).toBeLessThanOrEqual(6);
  });

  it.each([
    ['no ARN', 'cohere.rerank-v3-5:0'],
    ['an ARN of another region', BEDROCK_MODEL.replace('us-east-1', 'eu-central-1')],
  ])('refuses %s as Bedrock model without a call', async (_what, model) => {
    expect(refusalOf(await gateway.rerank(await gateway.virtualKey('bedrock'), { ...body, model }))).toEqual(
      REFUSED_MODEL,
    );
    expect(gateway.provider.calls).toEqual([]);
  });
});
