// Bedrock's own API, from a client of AWS through the gateway to Bedrock and back.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { expectedSignature, readAuthorization } from '../src/upstream/aws/__fixtures__/sigv4-verifier.js';
import {
  cutFrames,
  converseEvents,
  eventsIn,
  exceptionFrame,
  frames,
  invokeChunks,
} from './support/bedrock-streams.js';
import { onlyCall, type ProviderCall, text } from './support/fake-provider.js';
import { readStream, type StreamRead } from './support/read-stream.js';
import { AWS_SECRET } from './support/rerank-gateway.js';
import { type Answer, errorIn, jsonOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const MODEL = 'anthropic.claude-sonnet-4-6';
const PATH = `/model/${MODEL}`;
const BODY = '{"messages":[{"role":"user","content":[{"text":"Hi \\u00e9"}]}], "inferenceConfig":{"maxTokens":100}}';
const USAGE = {
  inputTokens: 9,
  outputTokens: 5,
  totalTokens: 38,
  cacheReadInputTokens: 4,
  cacheWriteInputTokens: 20,
  cacheDetails: [
    { ttl: '5m', inputTokens: 14 },
    { ttl: '1h', inputTokens: 6 },
  ],
};
const COUNTED = { input: 9, output: 5, cache_read: 4, cache_write_5m: 14, cache_write_1h: 6 };
const MESSAGE = { message: { role: 'assistant', content: [{ text: 'Hello' }] } };
const ANSWER = `{"output":${JSON.stringify(MESSAGE)}, "stopReason":"end_turn","usage":${JSON.stringify(USAGE)},"x":1.50}`;
const START = converseEvents({ messageStart: { role: 'assistant' } });
const WORD = converseEvents({ contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hello' } } });
const END = converseEvents(
  { contentBlockStop: { contentBlockIndex: 0 } },
  { messageStop: { stopReason: 'end_turn' } },
  { metadata: { usage: USAGE, metrics: { latencyMs: 3 } } },
);
const STREAM = Buffer.concat([START, WORD, END]);

let gateway: UsageGateway;
let slug: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  slug = await gateway.virtualKey('bedrock');
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.replyWith((response, call) => {
    const reply = call.path.endsWith('-stream')
      ? frames(STREAM, { 'x-amzn-requestid': 'r-1' })
      : text(ANSWER, 'application/json', 200, { 'x-amzn-requestid': 'r-1' });
    reply(response, call);
  });
});
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

function headersOf(more: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const own = { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` };
  return { ...own, 'x-gateway-virtual-key': slug, ...more };
}

function post(path: string, body = BODY, more?: Readonly<Record<string, string>>): Promise<Answer> {
  return send(gateway.app.url + path, { headers: headersOf(more), body });
}

function stream(path: string, more?: Readonly<Record<string, string>>): Promise<StreamRead> {
  return readStream(gateway.app.url + path, headersOf(more), JSON.parse(BODY));
}

function isSigned(call: ProviderCall): boolean {
  const headers = Object.fromEntries(Object.entries(call.headers).map(([name, value]) => [name, String(value)]));
  const url = new URL(gateway.provider.url + call.path);
  const request = { method: 'POST' as const, url, headers, body: call.bytes };
  return readAuthorization(request).signature === expectedSignature(request, AWS_SECRET);
}

const refusal = (answer: Pick<Answer, 'status' | 'headers' | 'text'>): unknown => {
  const { message, code } = errorIn(answer);
  expect(message).toEqual(expect.any(String));
  return [answer.status, answer.headers['x-amzn-errortype'], code];
};

describe('a call of Converse', () => {
  it('passes byte for byte with a signature of AWS, and is in the ledger', async () => {
    const answer = await post(`${PATH}/converse`, BODY, { 'x-amzn-bedrock-trace': 'ENABLED' });
    expect([answer.status, answer.text]).toEqual([200, ANSWER]);
    expect(answer.headers).toMatchObject({ 'x-amzn-requestid': 'r-1', 'x-gateway-model': MODEL });
    const call = onlyCall(gateway.provider);
    expect([call.path, call.body]).toEqual([`${PATH}/converse`, BODY]);
    expect(call.headers['x-amzn-bedrock-trace']).toBe('ENABLED');
    expect(call.headers.authorization).toContain('/us-east-1/bedrock/aws4_request');
    expect(isSigned(call)).toBe(true);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'converse', model: MODEL, quantities: COUNTED, source: 'provider' });
  });

  it('passes its stream byte for byte, and is metered by its last event', async () => {
    const read = await stream(`${PATH}/converse-stream`);
    expect([read.status, read.end, read.bytes.equals(STREAM)]).toEqual([200, 'whole', true]);
    expect(read.headers).toMatchObject({ 'content-type': 'application/vnd.amazon.eventstream' });
    expect(onlyCall(gateway.provider).path).toBe(`${PATH}/converse-stream`);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'converse', quantities: COUNTED, source: 'provider', outcome: 'answered' });
  });

  it('names its model by its ARN, with the virtual key in front', async () => {
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-6';
    const path = `/model/${encodeURIComponent(`@${slug}/${arn}`)}/converse`;
    const answer = await send(gateway.app.url + path, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ADMIN_KEY}` },
      body: BODY,
    });
    expect([answer.status, answer.headers['x-gateway-model']]).toEqual([200, arn]);
    const call = onlyCall(gateway.provider);
    expect(call.path).toBe(`/model/${encodeURIComponent(arn)}/converse`);
    expect(isSigned(call)).toBe(true);
  });

  it('passes an error as Bedrock words it', async () => {
    const words = '{"message":"Too many tokens, please wait"}';
    gateway.provider.replyWith(
      text(words, 'application/json', 429, { 'x-amzn-errortype': 'ThrottlingException:http://x.test/' }),
    );
    const answer = await post(`${PATH}/converse`);
    expect([answer.status, answer.text]).toEqual([429, words]);
    expect(answer.headers['x-amzn-errortype']).toBe('ThrottlingException:http://x.test/');
  });
});

describe('a stream that fails', () => {
  it('passes an exception of Bedrock as it came', async () => {
    const broken = Buffer.concat([START, WORD, exceptionFrame('modelStreamErrorException', 'It broke')]);
    gateway.provider.replyWith(frames(broken));
    const read = await stream(`${PATH}/converse-stream`);
    expect(read.bytes.subarray(0, broken.length).equals(broken)).toBe(true);
    expect(read.end).toBe('broken');
  });

  it('has failed where it ends without its last event', async () => {
    gateway.provider.replyWith(frames(Buffer.concat([START, WORD])));
    const read = await stream(`${PATH}/converse-stream`);
    expect([read.end, eventsIn(read.bytes).at(-1)]).toEqual(['broken', expect.objectContaining({ kind: 'exception' })]);
  });

  it('ends with an exception of the gateway and a cut connection when it breaks off', async () => {
    gateway.provider.replyWith(cutFrames(Buffer.concat([START, WORD])));
    const read = await stream(`${PATH}/converse-stream`);
    expect(read.end).toBe('broken');
    expect(eventsIn(read.bytes).at(-1)).toMatchObject({
      kind: 'exception',
      name: 'modelStreamErrorException',
      payload: { error_code: 'provider_invalid_response' },
    });
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ outcome: 'unknown', quantities: { output: 100 } });
  });

  it('is cut without an exception within a frame', async () => {
    gateway.provider.replyWith(cutFrames(Buffer.concat([START, WORD.subarray(0, 20)])));
    const read = await stream(`${PATH}/converse-stream`);
    expect([read.end, read.bytes.length]).toEqual(['broken', START.length + 20]);
  });

  it('hands its call on while nothing of an answer is out', async () => {
    const other = await gateway.virtualKey('bedrock', { path: '/other' });
    await gateway.admin.create('/v1/model-routes', {
      name: 'sonnet',
      targets: [
        { virtual_key: slug, model: 'first-model' },
        { virtual_key: other, model: 'second-model', order: 1 },
      ],
    });
    gateway.provider.replyWith((response, call) => {
      const failed = Buffer.concat([START, exceptionFrame('serviceUnavailableException', 'Later')]);
      frames(call.path.startsWith('/other') ? STREAM : failed)(response, call);
    });
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const read = await readStream(`${gateway.app.url}/model/sonnet/converse-stream`, headers, JSON.parse(BODY));
    expect(read.bytes.equals(STREAM)).toBe(true);
    expect(read.headers).toMatchObject({ 'x-gateway-attempts': '2', 'x-gateway-model': 'second-model' });
    expect(gateway.provider.calls.map(({ path, body }) => [path, body])).toEqual([
      ['/model/first-model/converse-stream', JSON.stringify(JSON.parse(BODY))],
      ['/other/model/second-model/converse-stream', JSON.stringify(JSON.parse(BODY))],
    ]);
  });
});

describe('a count of tokens', () => {
  const COUNT = '{"input":{"converse":{"messages":[{"role":"user","content":[{"text":"Hi \\u00e9"}]}]}}}';
  const path = `${PATH}/count-tokens`;
  beforeEach(() => gateway.provider.replyWith(text('{"inputTokens": 7}', 'application/json')));

  it('passes signed and byte for byte, and is free', async () => {
    // Not a call that a limit could count.
    await gateway.limit({ type: 'tokens', credit_limit: 1 });
    const answer = await post(path, COUNT);
    expect([answer.status, answer.text]).toEqual([200, '{"inputTokens": 7}']);
    const call = onlyCall(gateway.provider);
    expect([call.path, call.body, isSigned(call)]).toEqual([path, COUNT, true]);
    expect(await gateway.books.ledger(0)).toEqual([]);
  });

  it('names its virtual key before its model', async () => {
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const named = `/model/${encodeURIComponent(`@${slug}/${MODEL}`)}/count-tokens`;
    const answer = await send(gateway.app.url + named, { headers, body: COUNT });
    expect([answer.status, answer.headers['x-gateway-model']]).toEqual([200, MODEL]);
    expect(onlyCall(gateway.provider).path).toBe(path);
  });

  it('is refused where the provider has none', async () => {
    const answer = await post(path, COUNT, { 'x-gateway-virtual-key': gateway.cohere });
    expect([answer.status, jsonOf(answer)['message']]).toEqual([400, expect.stringContaining('bedrock')]);
    expect(gateway.provider.calls).toHaveLength(0);
  });
});

describe('a call of InvokeModel', () => {
  const ASKED =
    '{"anthropic_version":"bedrock-2023-05-31","max_tokens":50,"messages":[{"role":"user","content":"Hi"}]}';

  it('passes, and is metered by the headers of Bedrock where its body says nothing', async () => {
    gateway.provider.replyWith(
      text('{"embedding":[0.5]}', 'application/json', 200, { 'x-amzn-bedrock-input-token-count': '7' }),
    );
    const path = '/model/amazon.titan-embed-text-v2%3A0/invoke';
    const answer = await post(path, '{"inputText":"Hi"}');
    expect([answer.status, answer.text]).toEqual([200, '{"embedding":[0.5]}']);
    expect(answer.headers['x-amzn-bedrock-input-token-count']).toBe('7');
    expect(onlyCall(gateway.provider).path).toBe(path);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'invoke', quantities: { input: 7 }, source: 'provider' });
  });

  it('passes its stream, and is metered by the metrics of its last chunk', async () => {
    const chunks = invokeChunks(
      { type: 'message_start', message: { model: 'claude', usage: { input_tokens: 9, output_tokens: 1 } } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
      {
        type: 'message_stop',
        'amazon-bedrock-invocationMetrics': {
          inputTokenCount: 9,
          outputTokenCount: 6,
          cacheReadInputTokenCount: 4,
          cacheWriteInputTokenCount: 2,
        },
      },
    );
    gateway.provider.replyWith(frames(chunks));
    const path = `${PATH}/invoke-with-response-stream`;
    const read = await readStream(gateway.app.url + path, headersOf(), JSON.parse(ASKED));
    expect(read.bytes.equals(chunks)).toBe(true);
    expect(onlyCall(gateway.provider).path).toBe(path);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ quantities: { input: 9, output: 6, cache_read: 4, cache_write_5m: 2 } });
  });
});

describe('a body', () => {
  const asOctets = { 'content-type': 'application/octet-stream' };

  it('may come as bytes of no type, as clients of AWS send it', async () => {
    expect((await post(`${PATH}/invoke`, '{"max_tokens":1}', asOctets)).status).toBe(200);
    expect(onlyCall(gateway.provider).headers['content-type']).toBe('application/json');
  });

  it('may not at other addresses', async () => {
    expect((await post('/v1/chat/completions', '{"model":"m"}', asOctets)).status).toBe(415);
  });

  it('gets the lower output cap of its model route', async () => {
    await gateway.admin.create('/v1/model-routes', {
      name: 'capped',
      targets: [{ virtual_key: slug, model: MODEL }],
      max_output_tokens: 20,
    });
    const { 'x-gateway-virtual-key': _left, ...headers } = headersOf();
    const answer = await send(`${gateway.app.url}/model/capped/converse`, { headers, body: BODY });
    expect([answer.status, answer.headers['x-gateway-max-tokens']]).toEqual([200, '20']);
    expect(onlyCall(gateway.provider).body).toBe(BODY.replace('100', '20'));
  });
});

describe('a usage limit', () => {
  it.each([
    ['converse', BODY],
    ['invoke', '{"max_tokens":100,"messages":[]}'],
  ])('refuses a call of %s that does not fit, in words of AWS, before Bedrock gets it', async (operation, body) => {
    await gateway.limit({ conditions: [{ key: 'endpoint', value: operation }], type: 'tokens', credit_limit: 50 });
    const answer = await post(`${PATH}/${operation}`, body);
    expect(refusal(answer)).toEqual([412, 'ServiceQuotaExceededException', 'usage_limit_exceeded']);
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it('counts the output that a field of the model allows', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 5_000 });
    const body = JSON.parse(BODY);
    expect((await post(`${PATH}/converse`)).status).toBe(200);
    const more = { ...body, additionalModelRequestFields: { max_tokens: 9_000 } };
    expect((await post(`${PATH}/converse`, JSON.stringify(more))).status).toBe(412);
  });

  it.each([
    ['tools of AWS', { toolConfig: { tools: [{ systemTool: { name: 'nova_grounding' } }] } }, 'toolConfig'],
    ['no cap of a model that is not known', { inferenceConfig: {} }, 'inferenceConfig.maxTokens'],
    ['a document', { messages: [{ role: 'user', content: [{ document: { source: {} } }] }] }, 'messages'],
  ])('refuses a call with %s, which has no bound', async (_what, more, param) => {
    await gateway.limit({ type: 'tokens', credit_limit: 1_000_000_000 });
    const body = JSON.stringify({ ...JSON.parse(BODY), ...more });
    const answer = await post('/model/unknown.model-v1/converse', body);
    expect(refusal(answer)).toEqual([412, 'ServiceQuotaExceededException', 'usage_not_bounded']);
    expect(errorIn(answer)['param']).toBe(param);
  });
});

describe('an error of the gateway', () => {
  it.each<[string, string, string, Readonly<Record<string, string>>, unknown]>([
    [
      'a key that is not known',
      `${PATH}/converse`,
      BODY,
      { authorization: 'Bearer tg_nobody' },
      [401, 'AccessDeniedException', 'api_key_invalid'],
    ],
    [
      'a cap in quotes',
      `${PATH}/converse`,
      '{"inferenceConfig":{"maxTokens":"9"}}',
      {},
      [400, 'ValidationException', 'validation_failed'],
    ],
    ['a body that is a list', `${PATH}/invoke`, '[]', {}, [400, 'ValidationException', 'validation_failed']],
    [
      'a model that leaves its path',
      '/model/..%2Fx/converse',
      BODY,
      {},
      [400, 'ValidationException', 'validation_failed'],
    ],
    [
      'an unknown virtual key',
      `${PATH}/converse`,
      BODY,
      { 'x-gateway-virtual-key': 'none' },
      [404, 'ResourceNotFoundException', 'virtual_key_not_found'],
    ],
    [
      'an operation that is not offered',
      `${PATH}/async-invoke`,
      BODY,
      {},
      [404, 'ResourceNotFoundException', 'operation_not_offered'],
    ],
  ])('is in the form of AWS for %s', async (_what, path, body, headers, expected) => {
    expect(refusal(await post(path, body, headers))).toEqual(expected);
    expect(gateway.provider.calls).toHaveLength(0);
  });

  it('says which providers speak it', async () => {
    const answer = await post('/model/m/converse', BODY, { 'x-gateway-virtual-key': gateway.cohere });
    expect(refusal(answer)).toEqual([400, 'ValidationException', 'provider_not_supported']);
    expect(jsonOf(answer)['message']).toContain('bedrock');
  });

  it('is for a key that may not use the model, whatever the body says', async () => {
    const { key } = await gateway.admin.create('/v1/api-keys', {
      name: 'k',
      workspace_id: 'default',
      scopes: ['completions.write'],
      allowed_models: ['other'],
    });
    const body = JSON.stringify({ ...JSON.parse(BODY), model: 'other' });
    const answer = await post(`${PATH}/converse`, body, { authorization: `Bearer ${String(key)}` });
    expect(refusal(answer)).toEqual([403, 'AccessDeniedException', 'model_not_allowed']);
  });
});
