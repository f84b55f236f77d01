// The faults of providers by name: what the caller of a model route with two targets sees of each, as the guide says it.
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type FakeProvider, json, type Reply, startFakeProvider, text } from './support/fake-provider.js';
import { readStream, type StreamRead } from './support/read-stream.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const EVENTS = 'text/event-stream';
const ROLE = 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n';
const MALFORMED = 'data: {"choices":[{"ind\n\n';
const FORMER_VLLM = { object: 'error', message: 'overloaded', code: 503 };
const END = 'data: [DONE]\n\n';
const SECOND = word('second') + END;
const STORM = 20;

let gateway: UsageGateway;
let second: FakeProvider;
let name: string;
let made = 0;

beforeAll(async () => {
  gateway = await startUsageGateway({
    ROUTE_FIRST_BYTE_MS: '800',
    ROUTE_ANSWER_MS: '1200',
    INFERENCE_TIMEOUT_MS: '60000',
    INFERENCE_STREAM_IDLE_MS: '2500',
    INFERENCE_STREAM_TIMEOUT_MS: '4000',
  });
  second = await startFakeProvider();
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  second.forget();
  second.replyWith(text(SECOND, EVENTS));
  name = await routeFrom(gateway.provider.url);
});
afterAll(async () => {
  await gateway.close();
  await second.close();
});

/** A model route whose first target is at this address. */
async function routeFrom(url: string, more: object = {}, terms: object = {}): Promise<string> {
  made += 1;
  const targets = [url, second.url].map(async (base_url, order) => {
    const virtual_key = await gateway.virtualKey('openai-compatible', { config: { base_url, ...more } });
    return { virtual_key, model: `m-${made}-${order}`, order, ...(order === 0 && terms) };
  });
  const routeName = `faults ${made}`;
  await gateway.admin.create('/v1/model-routes', { name: routeName, targets: await Promise.all(targets) });
  return routeName;
}

function ask(path = '/v1/chat/completions', conversation: object = { messages: [] }): Promise<StreamRead> {
  const body = { model: name, stream: true, max_tokens: 100, ...conversation };
  return readStream(gateway.app.url + path, { 'x-gateway-api-key': ADMIN_KEY }, body);
}

function word(content: string): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
}

function words(count: number): string {
  return Array.from({ length: count }, (_, index) => word(`w${index} `)).join('');
}

/** Begins a stream, and goes on with it in its own way. */
function begun(beginning: string, goOn: (response: ServerResponse) => void): Reply {
  return (response) => {
    response.writeHead(200, { 'content-type': EVENTS });
    response.write(beginning, () => goOn(response));
  };
}

const stall = (): void => undefined;

/** A word every 50 ms, until the gateway closes the connection. */
function goOnForever(response: ServerResponse): void {
  const timer = setInterval(() => response.write(word('on')), 50);
  response.once('close', () => clearInterval(timer));
}

describe('a caller whose first target', () => {
  it('refuses connections gets the answer of the second', async () => {
    const closed = await startFakeProvider();
    await closed.close();
    name = await routeFrom(closed.url);
    expect(await ask()).toMatchObject({ status: 200, text: SECOND, end: 'whole' });
  });

  it.each<[string, Reply]>([
    ['sends an error with the status 200', json({ error: { message: 'overloaded', code: 504 } })],
    ['sends a text as error with the status 200', json({ error: 'The model has crashed.' })],
    ['sends an error of a former vLLM with the status 200', json(FORMER_VLLM)],
    ['stalls before its first byte', stall],
    ['stalls after the role', begun(ROLE, stall)],
    ['is cut after the role', begun(ROLE, (response) => setTimeout(() => response.destroy(), 20))],
  ])('%s gets the answer of the second, and nothing of the first', async (_fault, reply) => {
    gateway.provider.replyWith(reply);
    expect(await ask()).toMatchObject({ status: 200, text: SECOND, end: 'whole' });
    expect([gateway.provider.calls.length, second.calls.length]).toEqual([1, 1]);
  });

  it('never begins a whole answer gets that of the second', async () => {
    const whole = '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}';
    gateway.provider.replyWith(stall);
    second.replyWith(text(whole, 'application/json'));
    expect(await ask('/v1/chat/completions', { messages: [], stream: false })).toMatchObject({
      status: 200,
      text: whole,
    });
    expect([gateway.provider.calls.length, second.calls.length]).toEqual([1, 1]);
  });

  it.each([
    ['/v1/chat/completions', { messages: [], stream: false }],
    ['/v1/chat/completions', { messages: [] }],
    ['/v1/rerank', { query: 'q', documents: ['d'], stream: undefined, max_tokens: undefined }],
  ])('does not begin within its own time gets the answer of the second, at %s', async (path, body) => {
    name = await routeFrom(gateway.provider.url, { timeout_ms: 60_000 }, { timeout_ms: 200 });
    gateway.provider.replyWith(stall);
    second.replyWith(json({ choices: [], results: [] }));
    expect((await ask(path, body)).status).toBe(200);
    expect([gateway.provider.calls.length, second.calls.length]).toEqual([1, 1]);
  });

  it('is slow to a whole answer gets it where its virtual key allows the time', async () => {
    name = await routeFrom(gateway.provider.url, { timeout_ms: 5_000 });
    const whole = '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}';
    gateway.provider.replyWith((response, call) => {
      setTimeout(() => text(whole, 'application/json')(response, call), 2_000);
    });
    expect(await ask('/v1/chat/completions', { messages: [], stream: false })).toMatchObject({
      status: 200,
      text: whole,
    });
    expect(second.calls).toEqual([]);
  });

  it.each<[string, (response: ServerResponse) => void]>([
    ['is cut', (response) => setTimeout(() => response.destroy(), 20)],
    ['stalls', stall],
    ['never ends', goOnForever],
  ])('%s after 40 of 60 tokens gets these, an error event and a cut connection', async (_fault, goOn) => {
    gateway.provider.replyWith(begun(words(40), goOn));
    const { status, text: got, end } = await ask();
    expect([status, end, got.startsWith(words(40))]).toEqual([200, 'broken', true]);
    expect(got.slice(words(40).length)).toContain('event: error\n');
    expect(got).not.toContain('[DONE]');
    expect(second.calls).toEqual([]);
  });

  it('sends one malformed event gets the stream as it came', async () => {
    const sent = ROLE + word('one') + MALFORMED + word('two') + END;
    gateway.provider.replyWith(text(sent, EVENTS));
    expect(await ask()).toMatchObject({ status: 200, text: sent, end: 'whole' });
    expect(second.calls).toEqual([]);
  });

  it('is slow to its first token gets its stream', async () => {
    const rest = word('late') + END;
    gateway.provider.replyWith(begun(ROLE, (response) => setTimeout(() => response.end(rest), 1_200)));
    expect(await ask()).toMatchObject({ status: 200, text: ROLE + rest, end: 'whole' });
    expect(second.calls).toEqual([]);
  });

  it('pauses after 40 of 60 tokens and goes on gets its stream', async () => {
    const rest = words(20) + END;
    gateway.provider.replyWith(begun(words(40), (response) => setTimeout(() => response.end(rest), 1_500)));
    expect(await ask()).toMatchObject({ status: 200, text: words(40) + rest, end: 'whole' });
    expect(second.calls).toEqual([]);
  });

  it('limits rates gets answers of the second, and the first is spared', async () => {
    gateway.provider.replyWith(json({ error: { message: 'slow down' } }, 429, { 'retry-after': '20' }));
    for (let call = 0; call < STORM; call += 1) expect(await ask()).toMatchObject({ status: 200, text: SECOND });
    expect([gateway.provider.calls.length, second.calls.length]).toEqual([1, STORM]);
  });
});

describe.each([
  ['/v1/messages', 'message_start', 'message_stop', { messages: [{ role: 'user', content: 'Hi' }] }],
  ['/v1/responses', 'response.created', 'response.completed', { input: 'Hi', max_tokens: undefined }],
])('a caller of %s, whose model route leads to chats', (path, first, last, conversation) => {
  const typesIn = (read: StreamRead): readonly unknown[] =>
    [...read.text.matchAll(/^event: (.+)$/gm)].flatMap(([, type]) => (type === first || type === last ? type : []));

  beforeEach(async () => {
    name = await routeFrom(gateway.provider.url, { messages: 'translate', responses: 'translate' });
    const finish = 'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n';
    second.replyWith(text(word('second') + finish + END, EVENTS));
  });

  it.each([
    ['before its first byte', ''],
    ['after the role', ROLE],
  ])('gets the stream of the second where the first is cut %s, and nothing of the first', async (_when, sent) => {
    const cut = (response: ServerResponse): void => {
      response.flushHeaders();
      setTimeout(() => response.destroy(), 20);
    };
    gateway.provider.replyWith(begun(sent, cut));
    const read = await ask(path, conversation);
    expect([read.status, read.end, typesIn(read)]).toEqual([200, 'whole', [first, last]]);
    expect(read.text).toContain('second');
    expect([gateway.provider.calls.length, second.calls.length]).toEqual([1, 1]);
  });

  it('gets an error event and a cut connection where the first is cut after output', async () => {
    gateway.provider.replyWith(begun(words(40), (response) => setTimeout(() => response.destroy(), 20)));
    const read = await ask(path, conversation);
    expect([read.end, typesIn(read)]).toEqual(['broken', [first]]);
    expect(read.text).toMatch(/event: (error|response\.failed)\n/);
    expect(second.calls).toEqual([]);
  });
});
