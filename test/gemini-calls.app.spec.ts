// Gemini's own API, from its client through the gateway to Google and back.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { cutFrames } from './support/bedrock-streams.js';
import { json, onlyCall, text } from './support/fake-provider.js';
import { readStream, type StreamRead } from './support/read-stream.js';
import { PROVIDER_KEY } from './support/rerank-gateway.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const MODEL = 'gemini-2.5-flash';
const PATH = `/v1beta/models/${MODEL}`;
const BODY = '{"contents":[{"parts":[{"text":"Hi \\u00e9"}]}], "generationConfig":{"maxOutputTokens":100}}';
const USAGE = {
  promptTokenCount: 20,
  cachedContentTokenCount: 12,
  candidatesTokenCount: 5,
  thoughtsTokenCount: 7,
  toolUsePromptTokenCount: 2,
  totalTokenCount: 34,
};
const COUNTED = { input: 10, cache_read: 12, output: 12 };
const ANSWER =
  '{"candidates":[{"content":{"parts":[{"text":"Hello"}]},"finishReason":"STOP"}], ' +
  `"usageMetadata":${JSON.stringify(USAGE)},"modelVersion":"${MODEL}","x":1.50}`;
const chunk = (words: string, more: object = {}, candidate: object = {}): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { parts: [{ text: words }] }, ...candidate }], ...more })}\r\n\r\n`;
const FIRST = chunk('Hel', { usageMetadata: { promptTokenCount: 20 } });
const STREAM = FIRST + chunk('lo', { usageMetadata: USAGE }, { finishReason: 'STOP' });

let gateway: UsageGateway;
let slug: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  slug = await gateway.virtualKey('gemini', { path: '/v1beta/openai' });
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.replyWith((response, call) =>
    (call.path.endsWith('?alt=sse') ? text(STREAM, 'text/event-stream') : text(ANSWER, 'application/json'))(
      response,
      call,
    ),
  );
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

const headersOf = (more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  'x-goog-api-key': ADMIN_KEY,
  'x-gateway-virtual-key': slug,
  ...more,
});
const post = (path: string, body = BODY, more?: Readonly<Record<string, string>>): Promise<Answer> =>
  send(gateway.app.url + path, { headers: headersOf(more), body });
const stream = (path = `${PATH}:streamGenerateContent?alt=sse`): Promise<StreamRead> =>
  readStream(gateway.app.url + path, headersOf(), JSON.parse(BODY));

describe('a call of generateContent', () => {
  it.each([PATH, `/v1/models/${MODEL}`])('passes byte for byte at %s, and is in the ledger', async (path) => {
    const answer = await post(`${path}:generateContent`);
    expect([answer.status, answer.text]).toEqual([200, ANSWER]);
    const call = onlyCall(gateway.provider);
    expect([call.path, call.body]).toEqual([`${PATH}:generateContent`, BODY]);
    expect(call.headers).toMatchObject({ 'x-goog-api-key': PROVIDER_KEY });
    expect(call.headers.authorization).toBeUndefined();
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'generate_content', model: MODEL, quantities: COUNTED, source: 'provider' });
  });

  it('passes its stream byte for byte', async () => {
    const read = await stream();
    expect([read.status, read.end, read.text]).toEqual([200, 'whole', STREAM]);
    expect(onlyCall(gateway.provider).path).toBe(`${PATH}:streamGenerateContent?alt=sse`);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ quantities: COUNTED, outcome: 'answered' });
  });

  it.each([
    ['with its slash', `/v1beta/models/@SLUG/${MODEL}:generateContent`],
    ['encoded', `/v1beta/models/%40SLUG%2F${MODEL}:generateContent`],
  ])('names the virtual key before its model, %s', async (_how, path) => {
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const answer = await send(gateway.app.url + path.replace('SLUG', slug), { headers, body: BODY });
    expect([answer.status, answer.headers['x-gateway-model']]).toEqual([200, MODEL]);
    expect(onlyCall(gateway.provider).path).toBe(`${PATH}:generateContent`);
  });

  it('has its key in the query, at this API alone', async () => {
    const { 'x-goog-api-key': _key, ...headers } = headersOf();
    const ask = (path: string): Promise<Answer> =>
      send(`${gateway.app.url}${path}?key=${ADMIN_KEY}`, { headers, body: BODY });
    expect((await ask(`${PATH}:generateContent`)).status).toBe(200);
    expect(onlyCall(gateway.provider).path).toBe(`${PATH}:generateContent`);
    expect((await ask('/v1/chat/completions')).status).toBe(401);
  });

  it('passes an error as Google words it', async () => {
    const words = '{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[]}}';
    gateway.provider.replyWith(text(words, 'application/json', 429));
    const answer = await post(`${PATH}:generateContent`);
    expect([answer.status, answer.text]).toEqual([429, words]);
  });

  it('takes the next target of its model route', async () => {
    const other = await gateway.virtualKey('gemini', { path: '/other/v1beta/openai' });
    await gateway.admin.create('/v1/model-routes', {
      name: 'fast',
      targets: [
        { virtual_key: slug, model: 'first' },
        { virtual_key: other, model: 'second', order: 1 },
      ],
    });
    gateway.provider.replyWith((response, call) => {
      const answer = text(ANSWER, 'application/json');
      (call.path.startsWith('/other') ? answer : json({ error: { code: 503 } }, 503))(response, call);
    });
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const path = '/v1beta/models/fast:generateContent';
    const answer = await send(gateway.app.url + path, { headers, body: BODY });
    expect([answer.status, answer.headers['x-gateway-model']]).toEqual([200, 'second']);
    expect(gateway.provider.calls.map((call) => call.path)).toEqual([
      '/v1beta/models/first:generateContent',
      '/other/v1beta/models/second:generateContent',
    ]);
  });
});

describe('a stream that breaks off', () => {
  it.each([
    ['a cut', cutFrames(Buffer.from(FIRST), 'text/event-stream')],
    ['an end without its reason', text(FIRST, 'text/event-stream')],
  ])('by %s ends with an error of Google and a cut connection', async (_what, reply) => {
    gateway.provider.replyWith(reply);
    const read = await stream();
    expect(read.end).toBe('broken');
    const last = read.text.slice(FIRST.length);
    expect(JSON.parse(last.replace(/^data: /, ''))).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE' } });
  });
});

describe('other operations', () => {
  it('count tokens for free', async () => {
    gateway.provider.replyWith(text('{"totalTokens": 7}', 'application/json'));
    const answer = await post(`${PATH}:countTokens`);
    expect([answer.status, answer.text]).toEqual([200, '{"totalTokens": 7}']);
    expect(await gateway.books.ledger(0)).toEqual([]);
  });

  it('embed texts, with the model of the path in the body too', async () => {
    gateway.provider.replyWith(text('{"embeddings":[{"values":[0.5]}]}', 'application/json'));
    const body = '{"requests":[{"model":"models/dear-model", "content":{"parts":[{"text":"model"}]}}]}';
    const answer = await post('/v1beta/models/cheap-model:batchEmbedContents', body);
    expect(answer.status).toBe(200);
    const call = onlyCall(gateway.provider);
    expect(call.path).toBe('/v1beta/models/cheap-model:batchEmbedContents');
    expect(call.body).toBe(body.replace('models/dear-model', 'models/cheap-model'));
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'embeddings', model: 'cheap-model', source: 'computed' });
  });
});

describe('a usage limit', () => {
  it('refuses a call that does not fit, before Google gets it', async () => {
    const conditions = [{ key: 'endpoint', value: 'generate_content' }];
    await gateway.limit({ conditions, type: 'tokens', credit_limit: 50 });
    const answer = await post(`${PATH}:generateContent`);
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect(jsonOf(answer)['error']).toMatchObject({ code: 412, status: 'FAILED_PRECONDITION' });
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it.each([
    ['tools of Google', { tools: [{ google_search: {} }] }, 'tools'],
    ['a stored file', { contents: [{ parts: [{ fileData: { fileUri: 'https://x.test' } }] }] }, 'contents'],
    ['no cap', { generationConfig: {} }, 'generationConfig.maxOutputTokens'],
  ])('refuses a call with %s, which has no bound', async (_what, more, param) => {
    await gateway.limit({ type: 'tokens', credit_limit: 1_000_000_000 });
    const body = JSON.stringify({ ...JSON.parse(BODY), ...more });
    const answer = await post('/v1beta/models/unknown-model:generateContent', body);
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param });
  });

  it('counts each candidate', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 700 });
    expect((await post(`${PATH}:generateContent`)).status).toBe(200);
    const more = { generationConfig: { maxOutputTokens: 100, candidate_count: 8 } };
    const answer = await post(`${PATH}:generateContent`, JSON.stringify({ ...JSON.parse(BODY), ...more }));
    expect(answer.status).toBe(412);
  });
});

describe('an error of the gateway', () => {
  it.each<[string, string, string, Readonly<Record<string, string>>, object]>([
    [
      'an unknown key',
      `${PATH}:generateContent`,
      BODY,
      { 'x-goog-api-key': 'tg_x' },
      { status: 401, code: 'api_key_invalid' },
    ],
    ['a stream as a list', `${PATH}:streamGenerateContent`, BODY, {}, { status: 400, param: 'alt' }],
    ['an unknown operation', `/v1/models/${MODEL}:retrieve`, BODY, {}, { status: 404, code: 'operation_not_offered' }],
    ['one of Vertex', `/v1/models/${MODEL}:predict`, BODY, {}, { status: 400, code: 'provider_not_supported' }],
    ['a cap in quotes', `${PATH}:generateContent`, '{"generationConfig":{"maxOutputTokens":"9"}}', {}, { status: 400 }],
    [
      'another provider',
      `${PATH}:generateContent`,
      BODY,
      { 'x-gateway-virtual-key': 'COHERE' },
      { status: 400, code: 'provider_not_supported' },
    ],
  ])('is in the form of Google for %s', async (_what, path, body, headers, expected) => {
    const named = headers['x-gateway-virtual-key'] === 'COHERE' ? gateway.cohere : slug;
    const answer = await post(path, body, { ...headers, 'x-gateway-virtual-key': named });
    expect(refusalOf(answer)).toMatchObject(expected);
    expect(jsonOf(answer)['error']).toMatchObject({ code: answer.status, status: expect.stringMatching(/^[A-Z_]+$/) });
    expect(gateway.provider.calls).toHaveLength(0);
  });
});
