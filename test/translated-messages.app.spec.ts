// Messages in Anthropic's format for models that speak chats alone, from a client through the gateway to a provider and back.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type FakeProvider,
  inTurn,
  json,
  onlyCall,
  type Reply,
  startFakeProvider,
  text,
} from './support/fake-provider.js';
import { readArray, readObject } from '../src/common/json/read.js';
import { readStream, type StreamRead } from './support/read-stream.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { errorOf, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const EVENTS = 'text/event-stream';
const ASK = { role: 'user', content: 'Hi' };
const BODY = { model: 'chat-only', max_tokens: 100, messages: [ASK] };
const USAGE = { prompt_tokens: 20, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 12 } };
const HEAD = { id: 'chatcmpl-1', model: 'chat-only-1' };
const CHAT = { ...HEAD, choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }], usage: USAGE };
const MESSAGE = {
  id: 'chatcmpl-1',
  type: 'message',
  role: 'assistant',
  model: 'chat-only-1',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, cache_creation_input_tokens: 0, cache_read_input_tokens: 12, output_tokens: 7 },
};
const PDF = { type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } };
const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const WORD = chunk({ content: 'Hello' });
const END = `${chunk({}, 'stop')}data: ${JSON.stringify({ ...HEAD, choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;
const COUNTED = { input: 8, cache_read: 12, output: 7 };

let gateway: UsageGateway;
let second: FakeProvider;
let slug: string;
let native: string;
let made = 0;

beforeAll(async () => {
  gateway = await startUsageGateway();
  second = await startFakeProvider();
  slug = await gateway.virtualKey('together');
  native = await gateway.virtualKey('anthropic', { config: { base_url: second.url } });
});
beforeEach(async () => {
  await gateway.reset();
  second.forget();
  second.replyWith(json({ ...MESSAGE, model: 'native' }));
  gateway.provider.replyWith((response, call) =>
    (call.body.includes('"stream":true') ? text(WORD + END, EVENTS) : json(CHAT, 200, { 'x-ratelimit-x': '1' }))(
      response,
      call,
    ),
  );
});
afterAll(async () => {
  await gateway.close();
  await second.close();
});

const KEY = { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY };

function post(
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
  path = '/v1/messages',
): Promise<Answer> {
  const own = { ...KEY, 'x-gateway-virtual-key': slug };
  return send(gateway.app.url + path, { headers: { ...own, ...headers }, body: JSON.stringify({ ...BODY, ...more }) });
}

function stream(more: object = {}): Promise<StreamRead> {
  const headers = { ...KEY, 'x-gateway-virtual-key': slug };
  return readStream(`${gateway.app.url}/v1/messages`, headers, { ...BODY, stream: true, ...more });
}

/** A model route to the provider that speaks chats, and then to one that speaks messages. */
async function route(fields: object = {}): Promise<Readonly<Record<string, string>>> {
  made += 1;
  await gateway.admin.create('/v1/model-routes', {
    name: `route ${made}`,
    targets: [
      { virtual_key: slug, model: `chat-only-${made}` },
      { virtual_key: native, model: 'claude', order: 1 },
    ],
    ...fields,
  });
  return { model: `route ${made}` };
}

function named(body: object): Promise<Answer> {
  return send(`${gateway.app.url}/v1/messages`, { headers: KEY, body: JSON.stringify({ ...BODY, ...body }) });
}

describe('a message to a provider that speaks chats alone', () => {
  it('is translated there and back, and is in the ledger with the figures of the provider', async () => {
    const answer = await post({ system: 'Be brief.', top_k: 5 });
    expect([answer.status, jsonOf(answer)]).toEqual([200, MESSAGE]);
    expect(answer.headers).toMatchObject({
      'x-gateway-translated': 'messages-to-chat',
      'x-gateway-warnings': 'unsupported_parameter; param=top_k; provider=together',
      'x-ratelimit-x': '1',
      'content-type': 'application/json',
    });
    const call = onlyCall(gateway.provider);
    expect([call.path, JSON.parse(call.body)]).toEqual([
      '/chat/completions',
      { model: 'chat-only', max_tokens: 100, messages: [{ role: 'system', content: 'Be brief.' }, ASK] },
    ]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'messages', model: 'chat-only', source: 'provider', quantities: COUNTED });
  });

  it('is translated event by event, with the usage that it did not ask for', async () => {
    const { status, text: events, end } = await stream();
    expect([status, end]).toEqual([200, 'whole']);
    expect(events.match(/^event: .*$/gm)).toEqual([
      'event: message_start',
      'event: ping',
      'event: content_block_start',
      'event: content_block_delta',
      'event: content_block_stop',
      'event: message_delta',
      'event: message_stop',
    ]);
    expect(events).toContain(`"usage":${JSON.stringify(MESSAGE.usage)}`);
    expect(JSON.parse(onlyCall(gateway.provider).body)).toMatchObject({ stream_options: { include_usage: true } });
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'messages', source: 'provider', quantities: COUNTED });
  });

  it('is sent again without a question for its usage to a server that refuses it', async () => {
    const refused = json({ error: { message: 'unknown field: stream_options' } }, 400);
    gateway.provider.replyWith(inTurn(refused, text(WORD + chunk({}, 'stop'), EVENTS)));
    const { status, text: events } = await stream({ model: 'an older server' });
    expect([status, events.endsWith('data: {"type":"message_stop"}\n\n')]).toEqual([200, true]);
    expect(gateway.provider.calls.map(({ body }) => body.includes('stream_options'))).toEqual([true, false]);
  });

  it('is not counted beforehand: clients do without', async () => {
    const answer = await post({}, {}, '/v1/messages/count_tokens');
    expect([answer.status, errorOf(answer)['type']]).toEqual([404, 'not_found_error']);
    expect(gateway.provider.calls).toEqual([]);
  });

  it('is refused with the field that cannot be translated, before anything is sent', async () => {
    const answer = await post({ messages: [{ role: 'user', content: [PDF] }] });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.objectContaining({
        type: 'invalid_request_error',
        details: expect.objectContaining({
          error_code: 'unsupported_parameter',
          param: 'messages.0.content.0.source',
        }),
      }),
    ]);
    expect(gateway.provider.calls).toEqual([]);
  });

  it('is refused in place of a warning where its caller is strict', async () => {
    const answer = await post({ top_k: 5 }, { 'x-gateway-strict': 'true' });
    expect([answer.status, errorOf(answer)['details']]).toEqual([
      400,
      expect.objectContaining({ error_code: 'unsupported_parameter', param: 'top_k' }),
    ]);
    expect(gateway.provider.calls).toEqual([]);
  });

  it('is refused by a limit on messages that has no room for it', async () => {
    await gateway.limit({ conditions: [{ key: 'endpoint', value: 'messages' }], type: 'tokens', credit_limit: 150 });
    const answer = await post();
    expect([answer.status, errorOf(answer)['type']]).toEqual([412, 'billing_error']);
    expect(gateway.provider.calls).toEqual([]);
  });

  it('gets the cap of its model route', async () => {
    const answer = await named(await route({ max_output_tokens: 50 }));
    expect([answer.status, answer.headers['x-gateway-max-tokens']]).toEqual([200, '50']);
    expect(JSON.parse(onlyCall(gateway.provider).body)).toMatchObject({ max_tokens: 50 });
  });
});

describe('an error of the provider', () => {
  it.each<[string, Reply, number, string, string]>([
    [
      'an error',
      json({ error: { message: 'No such model.', code: 'x' } }, 404),
      404,
      'not_found_error',
      'No such model.',
    ],
    [
      'a rate limit',
      json({ error: { message: 'Too many tokens.' } }, 429),
      429,
      'rate_limit_error',
      'Too many tokens.',
    ],
    ['a text', json({ error: 'Bad.' }, 400), 400, 'invalid_request_error', 'Bad.'],
    ['a plain text', text('404 page not found', 'text/plain', 404), 404, 'not_found_error', '404 page not found'],
    [
      'a list of broken rules',
      json({ detail: [{ type: 'missing', loc: ['body', 'tools'], msg: 'Field required' }] }, 422),
      422,
      'invalid_request_error',
      'tools: Field required',
    ],
    ['a page', text('<html>', 'text/html', 503), 503, 'api_error', 'The provider answered 503.'],
    [
      'too long an input',
      json({ error: { message: 'The maximum context length is 8.', code: 'context_length_exceeded' } }, 400),
      400,
      'invalid_request_error',
      'prompt is too long: The maximum context length is 8.',
    ],
  ])('keeps status and words in the form of messages: %s', async (_what, reply, status, type, message) => {
    gateway.provider.replyWith(reply);
    const answer = await post();
    expect([answer.status, jsonOf(answer)]).toEqual([status, { type: 'error', error: { type, message } }]);
    expect(answer.headers['content-type']).toBe('application/json');
  });

  it('keeps the pause that the provider asks for', async () => {
    gateway.provider.replyWith(json({ error: {} }, 429, { 'retry-after': '7' }));
    expect((await post()).headers['retry-after']).toBe('7');
  });

  it('with the status of a success is one for the caller, and costs nothing', async () => {
    gateway.provider.replyWith(json({ error: { message: 'Overloaded.' } }));
    const answer = await post();
    expect([answer.status, errorOf(answer)]).toEqual([502, expect.objectContaining({ message: 'Overloaded.' })]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ outcome: 'failed', quantities: {} });
  });

  it.each([
    ['reports it', 'data: {"error":{"message":"Overloaded."}}\n\n', 'Overloaded.'],
    ['ends without an end', '', 'ended before'],
    ['has no JSON', 'data: {"choi\n\n', 'does not understand'],
  ])('ends a stream with an error event and a cut where it %s', async (_what, rest, message) => {
    gateway.provider.replyWith(text(WORD + rest, EVENTS));
    const { text: events, end } = await stream();
    expect(end).toBe('broken');
    expect(events).toContain('"text":"Hello"');
    const last = events.trimEnd().split('\n\n').at(-1) ?? '';
    expect(last).toMatch(/^event: error\ndata: \{"type":"error"/);
    expect(last).toContain(message);
    expect(events).not.toContain('message_stop');
    const [row] = await gateway.books.ledger(1);
    expect(row?.quantities).toMatchObject({ output: 'Hello'.length });
  });
});

describe('a message for a server that demands what its model thought', () => {
  it('gives its caller the thoughts unasked, and the server those that come back', async () => {
    const config = { base_url: gateway.provider.url, messages: 'translate', reasoning_field: 'reasoning_content' };
    const kimi = await gateway.virtualKey('openai-compatible', { config });
    const ask = async (more: object): Promise<Answer> =>
      send(`${gateway.app.url}/v1/messages`, {
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${ADMIN_KEY}`,
          'x-gateway-virtual-key': kimi,
        },
        body: JSON.stringify({ ...BODY, ...more }),
      });
    const message = { content: 'Hello', reasoning_content: 'Hm.' };
    gateway.provider.replyWith(json({ ...CHAT, choices: [{ message, finish_reason: 'stop' }] }));
    const { content } = jsonOf(await ask({}));
    expect(content).toEqual([{ type: 'thinking', thinking: 'Hm.', signature: '' }, ...MESSAGE.content]);
    const silent = jsonOf(await ask({ thinking: { type: 'disabled' } }));
    expect(silent['content']).toEqual(MESSAGE.content);
    const messages = [ASK, { role: 'assistant', content }, ASK, { role: 'assistant', content: 'From another.' }, ASK];
    await ask({ messages });
    expect(JSON.parse(gateway.provider.calls[2]?.body ?? '')).toMatchObject({
      messages: [
        ASK,
        { role: 'assistant', ...message },
        ASK,
        { content: 'From another.', reasoning_content: ' ' },
        ASK,
      ],
    });
  });
});

it('gives Gemini back the signature of a call, and says where a call comes from another model', async () => {
  const gemini = await gateway.virtualKey('gemini');
  const called = { id: 'c1', type: 'function', function: { name: 'add', arguments: '{}' } };
  const extra_content = { google: { thought_signature: 'Ct/+=' } };
  const message = { content: null, tool_calls: [{ ...called, extra_content }] };
  gateway.provider.replyWith(json({ ...CHAT, choices: [{ message, finish_reason: 'tool_calls' }] }));
  const ask = async (messages: readonly unknown[]): Promise<Answer> =>
    send(`${gateway.app.url}/v1/messages`, {
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${ADMIN_KEY}`,
        'x-gateway-virtual-key': gemini,
      },
      body: JSON.stringify({ ...BODY, model: 'gemini-3-pro-preview', messages }),
    });
  const { content } = jsonOf(await ask([ASK]));
  const [use] = readArray(content, 'content').map((block) => readObject(block, 'block'));
  expect(use?.['id']).toMatch(/^c1__signed__[\w-]+$/);
  const foreign = { type: 'tool_use', id: 't', name: 'add', input: {} };
  const result = (id: unknown): object => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: '2' }],
  });
  const assistant = (block: unknown): object => ({ role: 'assistant', content: [block] });
  await ask([ASK, assistant(use), result(use?.['id']), assistant(foreign), result('t')]);
  const unsigned = { google: { thought_signature: 'skip_thought_signature_validator' } };
  expect(JSON.parse(gateway.provider.calls[1]?.body ?? '')).toMatchObject({
    messages: [
      ASK,
      { tool_calls: [{ ...called, extra_content }] },
      { tool_call_id: 'c1' },
      { tool_calls: [{ id: 't', extra_content: unsigned }] },
      { tool_call_id: 't' },
    ],
  });
});

describe('a model route with a provider that speaks chats, and one that speaks messages', () => {
  it('translates for the first as long as it answers', async () => {
    const answer = await named(await route());
    expect(answer.headers['x-gateway-translated']).toBe('messages-to-chat');
    expect([gateway.provider.calls.length, second.calls.length]).toEqual([1, 0]);
  });

  it.each<[string, Reply, object]>([
    ['fails', json({}, 500), {}],
    ['answers with an error in place of a message', json({ error: { message: 'no' } }), {}],
    ['fails before its first output', text('data: {"error":{"message":"no"}}\n\n', EVENTS), { stream: true }],
    ['breaks off before its first output', text(chunk({ role: 'assistant' }), EVENTS), { stream: true }],
  ])('relays to the second where the first %s', async (_what, reply, more) => {
    gateway.provider.replyWith(reply);
    const answer = await named({ ...(await route()), ...more, top_k: 5 });
    expect([answer.status, jsonOf(answer)['model']]).toEqual([200, 'native']);
    expect(answer.headers['x-gateway-translated']).toBeUndefined();
    expect(answer.headers['x-gateway-warnings']).toBeUndefined();
    expect(JSON.parse(second.calls[0]?.body ?? '')).toEqual({ ...BODY, model: 'claude', ...more, top_k: 5 });
  });

  it('relays to the second what cannot be translated for the first', async () => {
    const messages = [{ role: 'user', content: [PDF] }];
    const answer = await named({ ...(await route()), messages });
    expect([answer.status, gateway.provider.calls.length]).toEqual([200, 0]);
    expect(JSON.parse(second.calls[0]?.body ?? '')).toMatchObject({ messages });
  });
});
