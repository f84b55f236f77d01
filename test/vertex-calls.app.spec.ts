// Models of Vertex AI, from a client through the gateway to Google and back.
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FakeGoogle } from '../src/upstream/google/__fixtures__/fake-google.js';
import { json, onlyCall, type ProviderCall, type Reply, text } from './support/fake-provider.js';
import { readStream } from './support/read-stream.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const PLACE = { google_project: 'my-project', google_location: 'europe-west4' };
const AT = '/v1/projects/my-project/locations/europe-west4';
const CLAUDE = 'claude-sonnet-4-5@20250929';
const FLASH = 'gemini-2.5-flash';

const MESSAGE =
  '{"type":"message", "content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn","x":1.50,' +
  '"usage":{"input_tokens":9,"cache_read_input_tokens":4,"output_tokens":5}}';
const MESSAGE_EVENTS =
  'event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":9,"output_tokens":1}}}\n\n' +
  'event: vertex_event\ndata: {"type":"vertex_event"}\n\n' +
  'event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}\n\n' +
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}\n\n' +
  'event: message_stop\ndata: {"type":"message_stop"}\n\n';
const GENERATED =
  '{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}], ' +
  '"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":5,"trafficType":"ON_DEMAND"}}';
const CHAT =
  '{"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],' +
  '"usage":{"prompt_tokens":7,"completion_tokens":3}}';
const EMBEDDED =
  '{"predictions":[{"embeddings":{"values":[0.10],"statistics":{"token_count":4}}},' +
  '{"embeddings":{"values":[0.2],"statistics":{"token_count":3,"truncated":false}}}]}';

let gateway: UsageGateway;
let google: FakeGoogle;
let slug: string;

/** Tokens, and then what Vertex answers. */
const behindLogin =
  (vertex: Reply): Reply =>
  (response, call) => {
    void google.answer(call).then((answer) => {
      if (answer === undefined) vertex(response, call);
      else json(answer.json, answer.status)(response, call);
    });
  };
const vertexReply: Reply = (response, call) => {
  const events = text(MESSAGE_EVENTS, 'text/event-stream; charset=utf-8');
  const answers: readonly [RegExp, Reply][] = [
    [/\/mistralai\/.*:rawPredict$/, text(CHAT, 'application/json')],
    [/:predict$/, text(EMBEDDED, 'application/json')],
    [/:streamRawPredict$/, events],
    [/count-tokens:rawPredict$/, text('{"input_tokens": 12}', 'application/json')],
    [/:rawPredict$/, text(MESSAGE, 'application/json')],
    [/:generateContent$/, text(GENERATED, 'application/json')],
    [/:streamGenerateContent\?alt=sse$/, text(`data: ${GENERATED}\r\n\r\n`, 'text/event-stream')],
    [/:countTokens$/, text('{"totalTokens": 7}', 'application/json')],
    [/\/endpoints\/openapi\/chat\/completions$/, text(CHAT, 'application/json')],
    [/\/cachedContents\?pageSize=1$/, json({})],
  ];
  const reply = answers.find(([path]) => path.test(call.path))?.[1] ?? json({ error: { code: 404 } }, 404);
  reply(response, call);
};

beforeAll(async () => {
  gateway = await startUsageGateway({ GOOGLE_API_HOSTS: '127.0.0.1' });
  google = new FakeGoogle(gateway.provider.url);
  slug = await virtualKey(google.serviceAccountKey());
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.replyWith(behindLogin(vertexReply));
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

async function virtualKey(google_credentials: string, more: object = {}): Promise<string> {
  const config = { ...PLACE, base_url: gateway.provider.url, google_credentials, ...more };
  const created = await gateway.admin.create('/v1/virtual-keys', { name: 'vertex', provider: 'vertex', config });
  return String(created['slug']);
}

const headersOf = (key = slug): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  'x-gateway-api-key': ADMIN_KEY,
  'x-gateway-virtual-key': key,
});
const post = (path: string, body: string, key?: string, more: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  send(gateway.app.url + path, { headers: { ...headersOf(key), ...more }, body });
/** Without those for tokens. */
const vertexCalls = (): readonly ProviderCall[] => gateway.provider.calls.filter(({ path }) => path.startsWith(AT));
const vertexCall = (): ProviderCall => onlyCall({ calls: vertexCalls() });

const messagesTo = (model: string, more = ''): string =>
  `{"model":"${model}", "max_tokens":100,"messages":[{"role":"user","content":"Hi \\u00e9"}],"system":"S" ${more}}`;
const IN_ITS_FORM =
  '{"anthropic_version":"vertex-2023-10-16", "max_tokens":100,"system":"S" ,"messages":[{"role":"user","content":"Hi \\u00e9"}]}';

describe('a message to Claude', () => {
  it('has its model in the path, its version in the body, and the answer byte for byte', async () => {
    const answer = await post('/v1/messages?beta=true', messagesTo(CLAUDE), slug, { 'anthropic-beta': 'a,b' });
    expect([answer.status, answer.text]).toEqual([200, MESSAGE]);
    const call = vertexCall();
    expect([call.path, call.body]).toEqual([`${AT}/publishers/anthropic/models/${CLAUDE}:rawPredict`, IN_ITS_FORM]);
    expect(call.headers['authorization']).toMatch(/^Bearer ya29\.token-/);
    expect(call.headers).toMatchObject({ 'anthropic-beta': 'a,b' });
    for (const header of ['x-api-key', 'x-gateway-api-key']) expect(call.headers).not.toHaveProperty(header);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'messages', model: CLAUDE, source: 'provider' });
    expect(row).toMatchObject({ quantities: { input: 9, cache_read: 4, output: 5 } });
    expect(Number(row?.costNano)).toBeGreaterThan(0);
  });

  it.each(['anthropic/claude-opus-4-6', 'publishers/anthropic/models/claude-opus-4-6'])(
    'can name the publisher: %s',
    async (model) => {
      expect((await post('/v1/messages', messagesTo(model))).status).toBe(200);
      expect(vertexCall().path).toBe(`${AT}/publishers/anthropic/models/claude-opus-4-6:rawPredict`);
      const [row] = await gateway.books.ledger(1);
      expect(row?.model).toBe('claude-opus-4-6');
    },
  );

  it('passes its stream byte for byte', async () => {
    const body = JSON.parse(messagesTo(CLAUDE, ',"stream":true'));
    const read = await readStream(`${gateway.app.url}/v1/messages`, headersOf(), body);
    expect([read.status, read.end, read.text]).toEqual([200, 'whole', MESSAGE_EVENTS]);
    expect(vertexCall().path).toBe(`${AT}/publishers/anthropic/models/${CLAUDE}:streamRawPredict`);
    expect(JSON.parse(vertexCall().body)).toMatchObject({ stream: true });
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ quantities: { input: 9, output: 5 }, outcome: 'answered' });
  });

  it('counts its tokens for free, with the model in the body', async () => {
    const answer = await post('/v1/messages/count_tokens', messagesTo(`anthropic/${CLAUDE}`));
    expect([answer.status, answer.text]).toEqual([200, '{"input_tokens": 12}']);
    const call = vertexCall();
    expect(call.path).toBe(`${AT}/publishers/anthropic/models/count-tokens:rawPredict`);
    expect(JSON.parse(call.body)).toMatchObject({ model: CLAUDE, anthropic_version: 'vertex-2023-10-16' });
    expect(await gateway.books.ledger(0)).toEqual([]);
  });

  it('takes the version of Vertex instead of another, and only one', async () => {
    await post('/v1/messages', messagesTo(CLAUDE, ',"anthropic_version":"bedrock-2023-05-31"'));
    expect(vertexCall().body).toBe(IN_ITS_FORM);
  });

  it('is refused by a usage limit before Vertex gets it', async () => {
    await gateway.limit({ conditions: [{ key: 'model', value: CLAUDE }], credit_limit: 0.000001 });
    const answer = await post('/v1/messages', messagesTo(`anthropic/${CLAUDE}`));
    expect(answer.status).toBe(412);
    expect(jsonOf(answer)).toMatchObject({ type: 'error' });
    expect(vertexCalls()).toHaveLength(0);
  });

  it('costs a tenth more than at the global endpoint', async () => {
    const config = { ...PLACE, google_location: 'global', base_url: gateway.provider.url };
    const body = {
      name: 'global',
      provider: 'vertex',
      config: { ...config, google_credentials: google.serviceAccountKey() },
    };
    const { slug: global } = await gateway.admin.create('/v1/virtual-keys', body);
    await post('/v1/messages', messagesTo(CLAUDE), String(global));
    await post('/v1/messages', messagesTo(CLAUDE));
    const [one, other] = await gateway.books.ledger(2);
    expect([one?.model, other?.model]).toEqual([CLAUDE, CLAUDE]);
    expect(Number(other?.costNano) / Number(one?.costNano)).toBeCloseTo(1.1, 6);
  });

  it('has the cap of its model route', async () => {
    const targets = [{ virtual_key: slug, model: CLAUDE }];
    await gateway.admin.create('/v1/model-routes', { name: 'short', targets, max_output_tokens: 40 });
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const answer = await send(`${gateway.app.url}/v1/messages`, { headers, body: messagesTo('short') });
    expect([answer.status, answer.headers['x-gateway-max-tokens']]).toEqual([200, '40']);
    expect(vertexCall().body).toBe(IN_ITS_FORM.replace('100', '40'));
  });

  it('may come compressed, and goes on in the form of Vertex', async () => {
    const body = gzipSync(messagesTo(CLAUDE));
    const headers = { ...headersOf(), 'content-encoding': 'gzip' };
    expect((await send(`${gateway.app.url}/v1/messages`, { headers, body })).status).toBe(200);
    expect([vertexCall().body, vertexCall().headers['content-encoding']]).toEqual([IN_ITS_FORM, undefined]);
  });

  it('can come from a chat, translated', async () => {
    const body = JSON.stringify({ model: CLAUDE, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] });
    const answer = await post('/v1/chat/completions', body);
    expect([answer.status, answer.headers['x-gateway-translated']]).toEqual([200, 'chat-to-messages']);
    expect(jsonOf(answer)).toMatchObject({ choices: [{ message: { content: 'Hi' } }] });
    expect(vertexCall().path).toBe(`${AT}/publishers/anthropic/models/${CLAUDE}:rawPredict`);
  });
});

describe('Gemini', () => {
  const BODY =
    '{"contents":[{"role":"user","parts":[{"text":"Hi \\u00e9"}]}], "generationConfig":{"maxOutputTokens":9}}';
  const NATIVE = `/v1beta/models/${FLASH}`;

  it.each([
    ['generateContent', GENERATED],
    ['streamGenerateContent?alt=sse', `data: ${GENERATED}\r\n\r\n`],
  ])('passes byte for byte in its own form: %s', async (operation, expected) => {
    const answer = await post(`${NATIVE}:${operation}`, BODY);
    expect([answer.status, answer.text]).toEqual([200, expected]);
    expect([vertexCall().path, vertexCall().body]).toEqual([
      `${AT}/publishers/google/models/${FLASH}:${operation}`,
      BODY,
    ]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'generate_content', model: FLASH, quantities: { input: 20, output: 5 } });
    expect(Number(row?.costNano)).toBeGreaterThan(0);
  });

  it('counts tokens for free', async () => {
    expect((await post(`${NATIVE}:countTokens`, BODY)).text).toBe('{"totalTokens": 7}');
    expect(vertexCall().path).toBe(`${AT}/publishers/google/models/${FLASH}:countTokens`);
    expect(await gateway.books.ledger(0)).toEqual([]);
  });

  it.each([
    [FLASH, `google/${FLASH}`, FLASH],
    [`google/${FLASH}`, `google/${FLASH}`, FLASH],
    ['meta/llama-4-maverick-17b-128e-instruct-maas', 'meta/llama-4-maverick-17b-128e-instruct-maas', undefined],
  ])('and open models take chats: %s', async (model, sent, counted = model) => {
    const body = `{"model":"${model}", "max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}`;
    const answer = await post('/v1/chat/completions', body);
    expect([answer.status, answer.text]).toEqual([200, CHAT]);
    const call = vertexCall();
    expect([call.path, call.body]).toEqual([`${AT}/endpoints/openapi/chat/completions`, body.replace(model, sent)]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'chat', model: counted, quantities: { input: 7, output: 3 } });
  });

  it('and Mistral take chats, the latter at the address of its publisher', async () => {
    const body = '{"model":"mistralai/mistral-medium-3@001", "max_tokens":50,"messages":[],"x":1.50}';
    const answer = await post('/v1/chat/completions', body);
    expect([answer.status, answer.text]).toEqual([200, CHAT]);
    const call = vertexCall();
    expect([call.path, call.body]).toEqual([
      `${AT}/publishers/mistralai/models/mistral-medium-3@001:rawPredict`,
      body.replace('mistralai/mistral-medium-3@001', 'mistral-medium-3'),
    ]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'chat', model: 'mistralai/mistral-medium-3@001', quantities: { input: 7 } });
  });

  it('embeds texts, and counts their tokens', async () => {
    const body = '{"instances":[{"content":"a"},{"content":"b"}],"parameters":{"outputDimensionality":1}}';
    const answer = await post('/v1/projects/p/locations/l/publishers/google/models/gemini-embedding-001:predict', body);
    expect([answer.status, answer.text]).toEqual([200, EMBEDDED]);
    const call = vertexCall();
    expect([call.path, call.body]).toEqual([`${AT}/publishers/google/models/gemini-embedding-001:predict`, body]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'embeddings', model: 'gemini-embedding-001', quantities: { input: 7 } });
  });

  it('predicts no images', async () => {
    const answer = await post('/v1/publishers/google/models/imagen-4.0-generate-001:predict', '{"instances":[{}]}');
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'provider_not_supported' });
    expect(vertexCalls()).toHaveLength(0);
  });

  it('takes messages, translated', async () => {
    const answer = await post('/v1/messages', messagesTo(FLASH));
    expect([answer.status, answer.headers['x-gateway-translated']]).toEqual([200, 'messages-to-chat']);
    expect(vertexCall().path).toBe(`${AT}/endpoints/openapi/chat/completions`);
  });

  it('has no form of Claude, and Claude none of Gemini', async () => {
    const answer = await post(`/v1beta/models/${CLAUDE}:generateContent`, BODY);
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'provider_not_supported' });
    expect(vertexCalls()).toHaveLength(0);
  });
});

describe("Vertex's own API", () => {
  const PLACES = ['/v1/projects/p/locations/l', '/v1beta1/projects/p/locations/l', '/v1', '/v1beta1'];
  const RAW =
    '{"anthropic_version":"vertex-2023-10-16","max_tokens":100,"messages":[{"role":"user","content":"Hi"}],"stream":true}';
  const SENT = (stream: boolean): string =>
    `{"anthropic_version":"vertex-2023-10-16","stream":${stream},"max_tokens":100,"messages":[{"role":"user","content":"Hi"}]}`;

  it.each(PLACES)('takes a message to Claude at %s, for the project of the virtual key', async (place) => {
    const answer = await post(`${place}/publishers/anthropic/models/${CLAUDE}:rawPredict`, RAW);
    expect([answer.status, answer.text]).toEqual([200, MESSAGE]);
    const call = vertexCall();
    expect([call.path, call.body]).toEqual([`${AT}/publishers/anthropic/models/${CLAUDE}:rawPredict`, SENT(false)]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'messages', model: CLAUDE, quantities: { input: 9, output: 5 } });
  });

  it('takes its stream, and a count of its tokens', async () => {
    const path = `/v1/projects/p/locations/l/publishers/anthropic/models`;
    const read = await readStream(`${gateway.app.url}${path}/${CLAUDE}:streamRawPredict`, headersOf(), JSON.parse(RAW));
    expect([read.status, read.end, read.text]).toEqual([200, 'whole', MESSAGE_EVENTS]);
    expect(vertexCall().body).toBe(SENT(true));
    gateway.provider.forget();
    const body = `{"model":"@${slug}/${CLAUDE}","anthropic_version":"vertex-2023-10-16","messages":[]}`;
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const counted = await send(`${gateway.app.url}${path}/count-tokens:rawPredict`, { headers, body });
    expect([counted.status, counted.text]).toEqual([200, '{"input_tokens": 12}']);
    expect(vertexCall().path).toBe(`${AT}/publishers/anthropic/models/count-tokens:rawPredict`);
    expect(JSON.parse(vertexCall().body)).toMatchObject({ model: CLAUDE });
    expect(await gateway.books.ledger(1)).toHaveLength(1);
  });

  it.each([
    ['anthropic', 'SLUG/', ':rawPredict', MESSAGE, CLAUDE],
    ['google', 'SLUG/', ':generateContent', GENERATED, FLASH],
    // As Google's client reads `@slug/model`.
    ['SLUG', '', ':generateContent', GENERATED, FLASH],
  ])('names its virtual key: %s %s %s', async (publisher, before, operation, expected, model) => {
    const path = `/v1beta1/projects/p/locations/l/publishers/${publisher}/models/${before}${model}${operation}`;
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const body = operation === ':rawPredict' ? RAW : '{"contents":[]}';
    const answer = await send(gateway.app.url + path.replace('SLUG', `@${slug}`), { headers, body });
    expect([answer.status, answer.text, answer.headers['x-gateway-model']]).toEqual([200, expected, model]);
    expect(vertexCalls()).toHaveLength(1);
  });

  it('leads to Anthropic too, which has its model in the body', async () => {
    const anthropic = await gateway.virtualKey('anthropic', { path: '/anthropic' });
    gateway.provider.replyWith((response, call) => {
      const isOfAnthropic = call.path.startsWith('/anthropic/');
      const ofVertex = call.path.includes('rawPredict') ? json({ error: { code: 503 } }, 503) : vertexReply;
      (isOfAnthropic ? text(MESSAGE, 'application/json') : behindLogin(ofVertex))(response, call);
    });
    await gateway.admin.create('/v1/model-routes', {
      name: 'claude-on-both',
      targets: [
        { virtual_key: slug, model: CLAUDE },
        { virtual_key: anthropic, model: 'claude-sonnet-4-5', order: 1 },
      ],
    });
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const path = '/v1/projects/p/locations/l/publishers/anthropic/models/claude-on-both:rawPredict';
    const answer = await send(gateway.app.url + path, { headers, body: RAW });
    expect([answer.status, answer.text, answer.headers['x-gateway-model']]).toEqual([
      200,
      MESSAGE,
      'claude-sonnet-4-5',
    ]);
    const sent = gateway.provider.calls.find((call) => call.path.startsWith('/anthropic/'));
    expect([sent?.path, sent?.body]).toEqual([
      '/anthropic/v1/messages',
      '{"model":"claude-sonnet-4-5","stream":false,"max_tokens":100,"messages":[{"role":"user","content":"Hi"}]}',
    ]);
  });

  it.each<[string, string, Readonly<Record<string, string>>, object, object]>([
    [
      'an unknown key',
      `anthropic/models/${CLAUDE}:rawPredict`,
      { 'x-gateway-api-key': 'tg_x' },
      { status: 401 },
      { type: 'error' },
    ],
    ['another publisher', 'mistralai/models/m:rawPredict', {}, { status: 404 }, { type: 'error' }],
    [
      'another operation',
      `anthropic/models/${CLAUDE}:predict`,
      {},
      { status: 404 },
      { error: { code: 404, status: 'NOT_FOUND' } },
    ],
    [
      'an unknown key of Gemini',
      `google/models/${FLASH}:generateContent`,
      { 'x-gateway-api-key': 'tg_x' },
      { status: 401 },
      { error: { code: 401, status: 'UNAUTHENTICATED' } },
    ],
  ])('has errors in the form of its models: %s', async (_what, path, headers, expected, form) => {
    const answer = await post(`/v1/projects/p/locations/l/publishers/${path}`, RAW, slug, headers);
    expect(answer).toMatchObject(expected);
    expect(jsonOf(answer)).toMatchObject(form);
    expect(vertexCalls()).toHaveLength(0);
  });
});

describe('a model route', () => {
  it('turns to Vertex where Anthropic fails', async () => {
    const anthropic = await gateway.virtualKey('anthropic', { path: '/anthropic' });
    await gateway.admin.create('/v1/model-routes', {
      name: 'sonnet',
      targets: [
        { virtual_key: anthropic, model: 'claude-sonnet-4-5' },
        { virtual_key: slug, model: CLAUDE, order: 1 },
      ],
    });
    gateway.provider.replyWith((response, call) => {
      const isOfAnthropic = call.path.startsWith('/anthropic/');
      (isOfAnthropic ? json({ type: 'error' }, 529) : behindLogin(vertexReply))(response, call);
    });
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const answer = await send(`${gateway.app.url}/v1/messages`, { headers, body: messagesTo('sonnet') });
    expect([answer.status, answer.text, answer.headers['x-gateway-model']]).toEqual([200, MESSAGE, CLAUDE]);
    expect([vertexCall().path, vertexCall().body]).toEqual([
      `${AT}/publishers/anthropic/models/${CLAUDE}:rawPredict`,
      IN_ITS_FORM,
    ]);
  });
});

it('turns to the next target of a model route where Google refuses the credential', async () => {
  const refused = await virtualKey(google.serviceAccountKey({ private_key_id: 'deleted' }));
  await gateway.admin.create('/v1/model-routes', {
    name: 'with-a-deleted-key',
    targets: [
      { virtual_key: refused, model: CLAUDE },
      { virtual_key: slug, model: CLAUDE, order: 1 },
    ],
  });
  const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
  const body = messagesTo('with-a-deleted-key');
  const answer = await send(`${gateway.app.url}/v1/messages`, { headers, body });
  expect([answer.status, answer.headers['x-gateway-virtual-key-used']]).toEqual([200, slug]);
  expect(await gateway.books.ledger(1)).toHaveLength(1);
});

describe('the access token', () => {
  it('is asked for again after Vertex has refused it, and then kept', async () => {
    google.revokeTokens();
    google.asked.length = 0;
    expect((await post('/v1/messages', messagesTo(CLAUDE))).status).toBe(200);
    expect([google.asked, vertexCalls().length]).toEqual([['/token'], 2]);
    for (let call = 0; call < 3; call += 1) await post('/v1/messages', messagesTo(CLAUDE));
    expect(google.asked).toEqual(['/token']);
    google.revokeTokens();
    expect((await post('/v1/messages', messagesTo(CLAUDE))).status).toBe(200);
    expect(google.asked).toEqual(['/token', '/token']);
  });

  it('can be the key itself', async () => {
    const config = { ...PLACE, base_url: gateway.provider.url };
    const body = { name: 'token', provider: 'vertex', key: 'ya29.of-another', config };
    const { slug: own } = await gateway.admin.create('/v1/virtual-keys', body);
    google.asked.length = 0;
    const answer = await post('/v1/messages', messagesTo(CLAUDE), String(own));
    expect(refusalOf(answer)).toMatchObject({ status: 401 });
    expect([google.asked, vertexCalls()[0]?.headers['authorization']]).toEqual([[], 'Bearer ya29.of-another']);
  });

  it.each<[string, () => Promise<string>, object]>([
    ['works', () => Promise.resolve(slug), { ok: true }],
    [
      'is refused by Google',
      () => virtualKey(google.serviceAccountKey({ private_key_id: 'deleted' })),
      {
        ok: false,
        error: 'provider_credential_rejected',
        reason: 'http_400',
        provider_message: 'Invalid JWT Signature.',
        hint: expect.stringContaining('127.0.0.1'),
      },
    ],
    [
      'comes from an address that refuses connections',
      () => virtualKey(google.serviceAccountKey({ token_uri: 'http://127.0.0.1:9/token' })),
      { ok: false, error: 'secret_unavailable', reason: 'connect', hint: expect.stringContaining('127.0.0.1:9') },
    ],
    [
      'comes from an address that the egress rules refuse',
      () => virtualKey(google.serviceAccountKey({ token_uri: 'http://169.254.169.254/token' })),
      { ok: false, error: 'secret_unavailable', reason: 'egress_refused' },
    ],
    [
      'comes from a metadata server that the organisation may not use',
      () => virtualKey('', { google_credentials: undefined, google_auth_type: 'metadata' }),
      { ok: false, error: 'permission_denied' },
    ],
  ])('is tested: %s', async (_what, key, expected) => {
    const tested = await send(`${gateway.app.url}/v1/virtual-keys/${await key()}/test`, { headers: headersOf() });
    expect(jsonOf(tested)).toMatchObject(expected);
    expect(tested.text).not.toContain('ya29');
  });
});
