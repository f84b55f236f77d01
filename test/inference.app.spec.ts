// Chats and embeddings, from a client through the gateway to a provider and back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { eventually } from './support/eventually.js';
import { inTurn, json, onlyCall, type Reply, silence, text } from './support/fake-provider.js';
import { plainly, type Ask } from './support/openai-client.js';
import { readStream } from './support/read-stream.js';
import { PROVIDER_KEY } from './support/rerank-gateway.js';
import { jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const USAGE = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
const ANSWER =
  '{ "id":"c-1","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},' +
  `"finish_reason":"stop"}],"unknown":1.50,"usage":${JSON.stringify(USAGE)} }`;
const MESSAGES = [{ role: 'user' as const, content: 'Hello' }];

let gateway: UsageGateway;
let slug: string;
let ask: Ask;
let client: OpenAI;

beforeAll(async () => {
  // Other calls have less time than a model that thinks.
  gateway = await startUsageGateway({ PROVIDER_TIMEOUT_MS: '300' });
  slug = await gateway.virtualKey('openai-compatible');
  ask = plainly(gateway, slug);
  client = new OpenAI({ baseURL: `${gateway.app.url}/v1`, apiKey: ADMIN_KEY, maxRetries: 0 });
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(text(ANSWER, 'application/json'));
});
afterAll(() => gateway.close());

function chunk(delta: object, more: object = {}): string {
  return `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: null }], ...more })}\n\n`;
}

const WORDS = ['Hel', 'lo'].map((content) => chunk({ content })).join('');
const STREAM_USAGE = `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', choices: [], usage: USAGE })}\n\n`;
const DONE = 'data: [DONE]\n\n';

function stream(...parts: readonly string[]): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    response.end();
  };
}

async function quantities(): Promise<unknown> {
  const [row] = await gateway.books.ledger(1);
  return row?.quantities;
}

describe('a chat', () => {
  it.each(['/v1/chat/completions', '/chat/completions'])(
    'passes byte for byte at %s, and is in the ledger',
    async (path) => {
      const body =
        '{"model":"m", "messages":[{"role":"user","content":"\\u00e9 é"}],"seed":12345678901234567890,"x":1.50}';
      const headers = {
        'content-type': 'application/json',
        authorization: `Bearer ${ADMIN_KEY}`,
        'x-gateway-virtual-key': slug,
      };
      const answer = await send(gateway.app.url + path, { headers, body });
      expect([answer.status, answer.text]).toEqual([200, ANSWER]);
      const call = onlyCall(gateway.provider);
      expect([call.path.endsWith('/chat/completions'), call.body]).toEqual([true, body]);
      expect(call.headers).toMatchObject({ authorization: `Bearer ${PROVIDER_KEY}` });
      expect(await quantities()).toMatchObject({ input: 9, output: 5 });
    },
  );

  it('takes the virtual key from the model, whose name is the only change', async () => {
    const completion = await client.chat.completions.create({ model: `@${slug}/m`, messages: MESSAGES });
    expect(completion.choices[0]?.message.content).toBe('Hi');
    expect(JSON.parse(onlyCall(gateway.provider).body)).toEqual({ model: 'm', messages: MESSAGES });
  });

  it('streams to a client that did not ask for usage, counts it, and hides it', async () => {
    gateway.provider.replyWith(stream(WORDS, STREAM_USAGE, DONE));
    const answer = await ask('POST', '/chat/completions', { body: { model: 'm', stream: true, messages: MESSAGES } });
    expect(answer.text).toBe(WORDS + DONE);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    expect(JSON.parse(onlyCall(gateway.provider).body)).toMatchObject({ stream_options: { include_usage: true } });
    expect(await quantities()).toMatchObject({ input: 9, output: 5 });
  });

  it('streams a tool call and its usage through the official SDK', async () => {
    const call = (more: object): string => chunk({ tool_calls: [{ index: 0, ...more }] });
    gateway.provider.replyWith(
      stream(
        call({ id: 'call-1', type: 'function', function: { name: 'add', arguments: '' } }),
        call({ function: { arguments: '{"a":' } }),
        call({ function: { arguments: '1}' } }),
        STREAM_USAGE,
        DONE,
      ),
    );
    const events = await client.chat.completions.create({
      model: `@${slug}/m`,
      messages: MESSAGES,
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: 'function', function: { name: 'add', parameters: {} } }],
    });
    let said = '';
    let usage: unknown;
    for await (const event of events) {
      const [tool] = event.choices[0]?.delta.tool_calls ?? [];
      said += (tool?.function?.name ?? '') + (tool?.function?.arguments ?? '');
      usage = event.usage ?? usage;
    }
    expect([said, usage]).toEqual(['add{"a":1}', USAGE]);
  });

  it('throws in the official SDK when its stream is cut', async () => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(WORDS, () => setTimeout(() => response.destroy(), 20));
    });
    const events = await client.chat.completions.create({ model: `@${slug}/m`, stream: true, messages: MESSAGES });
    const read = async (): Promise<string> => {
      let said = '';
      for await (const event of events) said += event.choices[0]?.delta.content ?? '';
      return said;
    };
    await expect(read()).rejects.toThrow();
  });

  it('ends the call of the provider when its client leaves, and charges what came', async () => {
    gateway.provider.replyWith((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(WORDS);
    });
    const leaving = new AbortController();
    const events = await client.chat.completions.create(
      { model: `@${slug}/m`, stream: true, max_tokens: 50, messages: MESSAGES },
      { signal: leaving.signal },
    );
    for await (const event of events) if (event.choices[0]?.delta.content === 'lo') leaving.abort();
    await eventually(() => gateway.provider.calls[0]?.closedEarly === true);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ outcome: 'cancelled', quantities: { output: 5 } });
  });

  it.each(['/v1/chat/completions', '/v1/messages'])(
    'charges the output cap when the client leaves %s before an answer that comes whole',
    async (address) => {
      gateway.provider.replyWith(silence);
      const body = JSON.stringify({ model: `@${slug}/m`, max_tokens: 50, messages: MESSAGES });
      const headers = { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json' };
      const leaving = new AbortController();
      const call = fetch(gateway.app.url + address, { method: 'POST', headers, body, signal: leaving.signal });
      await eventually(() => gateway.provider.calls.length === 1);
      leaving.abort();
      await expect(call).rejects.toThrow();
      const [row] = await gateway.books.ledger(1);
      expect(row).toMatchObject({ outcome: 'cancelled', quantities: { output: 50 } });
    },
  );

  it('passes an error as the provider words it, without the credential', async () => {
    const words = `{"error" : {"message":"key ${PROVIDER_KEY} is slow","code":"rate_limit_exceeded"}}`;
    const limits = { 'x-ratelimit-limit-requests': '5', 'x-ratelimit-key': `of ${PROVIDER_KEY}` };
    const headers = { 'retry-after': '7', 'set-cookie': 'a=b', ...limits };
    gateway.provider.replyWith(text(words, 'application/json', 429, headers));
    const answer = await ask('POST', '/chat/completions', { body: { model: 'm', messages: MESSAGES } });
    expect([answer.status, answer.text]).toEqual([429, words.replace(PROVIDER_KEY, '****')]);
    expect(answer.headers).toMatchObject({
      'retry-after': '7',
      'content-type': 'application/json',
      'x-ratelimit-limit-requests': '5',
    });
    expect(Object.keys(answer.headers)).not.toEqual(expect.arrayContaining(['set-cookie']));
    expect(JSON.stringify(answer.headers)).not.toContain(PROVIDER_KEY);
    expect(gateway.app.log()).toContain('"error_code":"provider_rate_limited"');
  });

  it.each([
    ['a chat', '/chat/completions', 'openai-compatible', 'application/json', ''],
    ['the stream of a chat', '/chat/completions', 'openai-compatible', 'text/event-stream', 'data: '],
    ['a response', '/responses', 'openai-compatible', 'text/event-stream', 'event: error\ndata: '],
    ['a message', '/messages', 'anthropic', 'text/event-stream', 'event: error\ndata: '],
    ['a translated message', '/messages', 'openai', 'application/json', ''],
    ['the stream of a translated message', '/messages', 'openai', 'text/event-stream', 'data: '],
  ])(
    'passes an error with the status of a success without the credential: %s',
    async (_what, path, provider, type, head) => {
      const error = { type: 'error', error: { type: 'authentication_error', message: `no key ${PROVIDER_KEY}` } };
      gateway.provider.replyWith(text(`${head}${JSON.stringify(error)}\n\n`, type));
      const virtualKey = await gateway.virtualKey(provider);
      const body = { model: 'm', max_tokens: 5, messages: MESSAGES, input: 'Hi', stream: head !== '' };
      const headers = { 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': virtualKey };
      const answer = await readStream(`${gateway.app.url}/v1${path}`, headers, body);
      expect(answer.text).toContain('no key ****');
      expect(answer.text).not.toContain(PROVIDER_KEY);
    },
  );

  it('has more time for its first byte than other calls, unless the virtual key names a limit', async () => {
    gateway.provider.replyWith((response, call) => {
      setTimeout(() => text(ANSWER, 'application/json')(response, call), 600);
    });
    const body = { model: 'm', messages: MESSAGES };
    expect((await ask('POST', '/chat/completions', { body })).status).toBe(200);
    const hasty = await gateway.virtualKey('openai-compatible', { config: { timeout_ms: 300 } });
    const late = await plainly(gateway, hasty)('POST', '/chat/completions', { body });
    expect(refusalOf(late)).toMatchObject({ status: 504, code: 'provider_timeout' });
  });

  it.each([400, 401, 404, 413, 500, 529])('passes a page with status %d', async (status) => {
    gateway.provider.replyWith(text('<html>no</html>', 'text/html', status));
    const answer = await ask('POST', '/chat/completions', { body: { model: 'm', messages: MESSAGES } });
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
      status,
      '<html>no</html>',
      'text/html',
    ]);
  });

  it.each([
    [{ messages: [] }, 400, 'model'],
    ['{"model":"a","model":"b"}', 400, 'model'],
    ['{"model":"m","max_tokens":5,"max_tokens":500}', 400, 'max_tokens'],
    [{ model: 'm', n: 0 }, 400, 'n'],
    [[], 400, null],
  ])('refuses %j', async (body, status, param) => {
    const answer = await ask('POST', '/chat/completions', { body });
    expect(refusalOf(answer)).toMatchObject({ status, code: 'validation_failed', param });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('refuses a provider that does not speak its dialect, and names those that do', async () => {
    const answer = await ask('POST', '/chat/completions', {
      body: { model: '@local/bm25' },
      headers: { 'x-gateway-virtual-key': undefined },
    });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'provider_not_supported' });
    expect(answer.text).toContain('openai-compatible');
  });

  it('streams from a server that refuses to be asked for usage, and then does not ask it', async () => {
    const own = await gateway.virtualKey('openai-compatible');
    const words = '{"error":{"message":"Unrecognized request argument supplied: stream_options"}}';
    gateway.provider.replyWith((response, call) => {
      const isAsked = call.body.includes('stream_options');
      (isAsked ? text(words, 'application/json', 400) : stream(WORDS, DONE))(response, call);
    });
    const body = '{"model":"m", "stream":true,"messages":[]}';
    for (let round = 1; round <= 2; round += 1) {
      const answer = await plainly(gateway, own)('POST', '/chat/completions', { body });
      expect([answer.status, answer.text]).toEqual([200, WORDS + DONE]);
    }
    const asking = body.replace('{', '{"stream_options":{"include_usage":true},');
    expect(gateway.provider.calls.map((call) => call.body)).toEqual([asking, body, body]);
    const rows = await gateway.books.ledger(3);
    expect(rows.map(({ outcome, source }) => [outcome, source])).toEqual([
      ['failed', 'computed'],
      ['answered', 'computed'],
      ['answered', 'computed'],
    ]);
  });

  it.each([
    ['the request is refused as it came too', '{"error":"stream_options"}', 400, 2],
    ['the refusal is about something else', '{"error":"no such model"}', 400, 1],
    ["the failure is the server's", '{"error":"stream_options"}', 500, 1],
  ])('passes the refusal of a stream when %s', async (_when, words, status, calls) => {
    gateway.provider.replyWith(text(words, 'application/json', status));
    const answer = await ask('POST', '/chat/completions', { body: { model: 'm', stream: true, messages: MESSAGES } });
    expect([answer.status, answer.text]).toEqual([status, words]);
    expect(gateway.provider.calls).toHaveLength(calls);
  });

  it('takes bodies up to a limit of their own', async () => {
    const content = 'x'.repeat(5 * 1024 * 1024);
    const answer = await ask('POST', '/chat/completions', { body: { model: 'm', messages: [{ content }] } });
    expect(answer.status).toBe(200);
    const large = await ask('POST', '/chat/completions', { body: { model: 'm', x: 'x'.repeat(33 * 1024 * 1024) } });
    expect(refusalOf(large)).toMatchObject({ status: 413, code: 'payload_too_large' });
  });
});

describe('a usage limit on chats', () => {
  const limit = (credit_limit: number): Promise<string> =>
    gateway.limit({ conditions: [{ key: 'endpoint', value: 'chat' }], type: 'tokens', credit_limit });

  it('is never exceeded by calls at once, streamed or not', async () => {
    await limit(2_000);
    gateway.provider.replyWith(
      inTurn(
        ...Array.from({ length: 30 }, (_, index) =>
          index % 2 ? stream(WORDS, STREAM_USAGE, DONE) : text(ANSWER, 'application/json'),
        ),
      ),
    );
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        ask('POST', '/chat/completions', {
          body: { model: 'm', stream: index % 2 === 1, max_tokens: 300, messages: MESSAGES },
        }),
      ),
    );
    const counts = (wanted: number): number => answers.filter(({ status }) => status === wanted).length;
    expect(counts(200) + counts(412) + counts(429)).toBe(30);
    expect(counts(200)).toBe(gateway.provider.calls.length);
    expect(counts(200)).toBeLessThan(30);
    await gateway.books.ledger(counts(200));
    expect(await gateway.books.faults()).toEqual([]);
  });

  it.each([
    [{ model: 'm' }, 'max_completion_tokens'],
    [{ model: 'm', max_tokens: 10, web_search_options: {} }, 'web_search_options'],
    [{ model: 'm', max_tokens: 10, messages: [{ content: [{ file: { file_id: 'f' } }] }] }, 'messages'],
  ])('refuses %j, whose cost has no bound', async (body, param) => {
    await limit(1_000_000);
    const answer = await ask('POST', '/chat/completions', { body });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_not_bounded', param });
    expect(answer.headers['x-should-retry']).toBe('false');
    expect(gateway.provider.calls).toEqual([]);
  });

  it('lets calls without a bound pass where the policy allows it, and counts them', async () => {
    const conditions = [{ key: 'endpoint', value: 'chat' }];
    await gateway.limit({ conditions, type: 'tokens', credit_limit: 200, unbounded: 'allow' });
    const body = { model: 'm', messages: MESSAGES };
    expect((await ask('POST', '/chat/completions', { body })).status).toBe(200);
    expect(await quantities()).toMatchObject({ input: 9, output: 5 });
    const large = { ...USAGE, completion_tokens: 1_000 };
    gateway.provider.replyWith(json({ choices: [], usage: large }));
    expect((await ask('POST', '/chat/completions', { body })).status).toBe(200);
    const refused = await ask('POST', '/chat/completions', { body });
    expect(refusalOf(refused)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    await gateway.books.ledger(2);
    expect(await gateway.books.faults()).toEqual([]);
  });

  it('counts all choices of a call', async () => {
    await limit(1_000);
    const answer = await ask('POST', '/chat/completions', { body: { model: 'm', max_tokens: 300, n: 4 } });
    expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
  });

  it('does not take an output cap that is too large to be true for no output', async () => {
    await limit(1_000);
    for (const cap of [
      { max_tokens: 10 ** 15 },
      { max_tokens: 10 ** 15 + 1 },
      { max_completion_tokens: Number.MAX_SAFE_INTEGER, n: 4 },
    ]) {
      const answer = await ask('POST', '/chat/completions', { body: { model: 'm', ...cap } });
      expect(refusalOf(answer)).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    }
    expect(gateway.provider.calls).toEqual([]);
  });
});

it('costs its output also when a chat has no cap', async () => {
  for (const [unit, price] of [
    ['input', '0.001'],
    ['output', '0.01'],
    ['cache_read', '0.001'],
  ] as const) {
    await gateway.admin.create('/v1/prices', { provider: 'openai-compatible', model: 'priced', unit, price });
  }
  const answer = await ask('POST', '/chat/completions', { body: { model: 'priced', messages: MESSAGES } });
  expect(answer.headers['x-gateway-cost']).toBe('0.059');
  const unpriced = await ask('POST', '/chat/completions', { body: { model: 'm', messages: MESSAGES } });
  expect(unpriced.headers).not.toHaveProperty('x-gateway-cost');
  const [row] = await gateway.books.ledger(2);
  expect(Number(row?.costNano)).toBe(59_000_000);
});

describe('embeddings', () => {
  const VECTORS = {
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding: 'AACAPw==' }],
    model: 'e',
    usage: { prompt_tokens: 3, total_tokens: 3 },
  };

  it('reach the official SDK, and the ledger', async () => {
    gateway.provider.replyWith(json(VECTORS));
    const { data } = await client.embeddings.create({ model: `@${slug}/e`, input: 'text' });
    expect(data[0]?.embedding).toEqual([1]);
    expect(onlyCall(gateway.provider).path).toMatch(/\/embeddings$/);
    expect(await quantities()).toEqual({ input: 3 });
  });

  it('need a model', async () => {
    const answer = await ask('POST', '/embeddings', { body: { input: 'text' } });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'model' });
    expect(jsonOf(answer)).toHaveProperty('error');
  });
});
