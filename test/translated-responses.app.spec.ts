// Responses of OpenAI's API for models of Anthropic and for models that speak chats alone, through the gateway.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, onlyCall, text } from './support/fake-provider.js';
import { readStream, type StreamRead } from './support/read-stream.js';
import { PROVIDER_KEY } from './support/rerank-gateway.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { errorOf, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const EVENTS = 'text/event-stream';
const BODY = { model: 'claude', max_output_tokens: 100, input: 'Hi' };
const ASK = { role: 'user', content: 'Hi' };
const USAGE = { input_tokens: 8, cache_read_input_tokens: 12, output_tokens: 7 };
const COUNTED = { input: 8, cache_read: 12, output: 7 };
const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-1' };
const MESSAGE = { ...HEAD, content: [{ type: 'text', text: 'Hello' }], stop_reason: 'end_turn', usage: USAGE };
const CHAT = {
  id: 'chatcmpl-1',
  model: 'chat-1',
  choices: [{ message: { content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 20, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 12 } },
};
const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const BEGUN =
  event('message_start', { message: { ...HEAD, content: [], usage: { ...USAGE, output_tokens: 1 } } }) +
  event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } });
const ENDED =
  event('content_block_stop', { index: 0 }) +
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }) +
  event('message_stop');

let gateway: UsageGateway;
let messages: string;
let chats: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  messages = await gateway.virtualKey('anthropic');
  chats = await gateway.virtualKey('together');
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.close());

const headersFor = (slug: string): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  authorization: `Bearer ${ADMIN_KEY}`,
  'x-gateway-virtual-key': slug,
});

function post(slug: string, more: object = {}, path = '/v1/responses'): Promise<Answer> {
  return send(gateway.app.url + path, { headers: headersFor(slug), body: JSON.stringify({ ...BODY, ...more }) });
}

function stream(slug: string, more: object = {}): Promise<StreamRead> {
  return readStream(`${gateway.app.url}/v1/responses`, headersFor(slug), { ...BODY, ...more, stream: true });
}

describe('a response of a model of Anthropic', () => {
  it('is translated there and back, and is in the ledger with the figures of the provider', async () => {
    gateway.provider.replyWith(json(MESSAGE));
    const answer = await post(messages, { instructions: 'Be brief.', store: true });
    expect([answer.status, jsonOf(answer)]).toEqual([
      200,
      expect.objectContaining({
        id: 'resp_msg_1',
        status: 'completed',
        usage: expect.objectContaining({ input_tokens: 20, output_tokens: 7, total_tokens: 27 }),
      }),
    ]);
    expect(answer.headers).toMatchObject({
      'x-gateway-translated': 'responses-to-messages',
      'x-gateway-warnings': 'unsupported_parameter; param=store; provider=anthropic',
    });
    const call = onlyCall(gateway.provider);
    expect([call.path, JSON.parse(call.body)]).toEqual([
      '/v1/messages',
      { model: 'claude', max_tokens: 100, system: 'Be brief.', messages: [ASK] },
    ]);
    expect(call.headers).toMatchObject({ 'x-api-key': PROVIDER_KEY, 'anthropic-version': '2023-06-01' });
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'responses', model: 'claude', source: 'provider', quantities: COUNTED });
  });

  it('is translated event by event', async () => {
    gateway.provider.replyWith(text(BEGUN + ENDED, EVENTS));
    const { status, text: events, end } = await stream(messages);
    expect([status, end]).toEqual([200, 'whole']);
    expect(events).toMatch(/^event: response\.created\ndata: .*\n\nevent: response\.in_progress\n/);
    expect(events).toMatch(/\nevent: response\.completed\ndata: .*"total_tokens":27\}.*\n\n$/);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'responses', source: 'provider', quantities: COUNTED });
  });

  it('has the errors of the provider in the form of responses', async () => {
    const error = { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' };
    gateway.provider.replyWith(json({ type: 'error', error }, 400));
    const answer = await post(messages);
    expect([answer.status, jsonOf(answer)]).toEqual([
      400,
      { error: { ...error, param: null, code: 'context_length_exceeded' } },
    ]);
  });

  it('ends a stream with the event of a failure and a cut where the provider reports an error', async () => {
    const error = { type: 'overloaded_error', message: 'Overloaded.' };
    gateway.provider.replyWith(text(BEGUN + event('error', { error }), EVENTS));
    const { text: events, end } = await stream(messages);
    expect(end).toBe('broken');
    expect(events).toContain('"delta":"Hello"');
    expect(events).toMatch(/\nevent: response\.failed\ndata: .*"message":"Overloaded\.".*\n\n$/);
    expect(new Set(events.match(/"id":"resp_[^"]*"/g)).size).toBe(1);
    expect(events).toMatch(/"response":\{[^}]*"id":"resp_[^"]*"[^\n]*\n\n$/);
    const [row] = await gateway.books.ledger(1);
    expect(row?.quantities).toMatchObject({ input: 8, cache_read: 12, output: 'Hello'.length });
  });

  it('says in a stream too that the input is too long, as Codex knows it', async () => {
    const error = { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens > 8 maximum' };
    gateway.provider.replyWith(text(BEGUN + event('error', { error }), EVENTS));
    const { text: events } = await stream(messages);
    const failed = events.split('event: response.failed\ndata: ').at(-1) ?? '';
    expect(JSON.parse(failed)).toMatchObject({
      response: { error: { code: 'context_length_exceeded', message: error.message } },
    });
  });

  it.each(['/v1/responses/compact', '/v1/responses/input_tokens'])(
    'is neither made shorter nor counted at %s',
    async (path) => {
      const answer = await post(messages, {}, path);
      expect([answer.status, errorOf(answer)['code']]).toEqual([404, 'operation_not_offered']);
      expect(gateway.provider.calls).toEqual([]);
    },
  );

  it('is refused where it goes on from one that the provider does not have', async () => {
    const answer = await post(messages, { previous_response_id: 'resp_1' });
    expect([answer.status, errorOf(answer)]).toEqual([
      400,
      expect.objectContaining({ code: 'unsupported_parameter', param: 'previous_response_id' }),
    ]);
    expect(gateway.provider.calls).toEqual([]);
  });
});

describe('a response of a model that speaks chats alone', () => {
  it('is translated there and back', async () => {
    gateway.provider.replyWith(json(CHAT));
    const answer = await post(chats, { prompt_cache_key: 'k' });
    expect([answer.status, jsonOf(answer)]).toEqual([
      200,
      expect.objectContaining({ id: 'resp_chatcmpl-1', status: 'completed', model: 'chat-1' }),
    ]);
    expect(answer.headers).toMatchObject({
      'x-gateway-translated': 'responses-to-chat',
      'x-gateway-warnings': 'unsupported_parameter; param=prompt_cache_key; provider=together',
    });
    const call = onlyCall(gateway.provider);
    expect([call.path, JSON.parse(call.body)]).toEqual([
      '/chat/completions',
      { model: 'claude', max_tokens: 100, messages: [ASK] },
    ]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'responses', quantities: COUNTED });
  });

  it('gives DeepSeek back what it thought before a call of a tool', async () => {
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const call = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
    const pieces = [
      { reasoning_content: 'First ' },
      { reasoning_content: 'add.' },
      { tool_calls: [{ index: 0, ...call }] },
    ];
    const chunks = [...pieces.map((piece) => chunk(piece)), chunk({}, 'tool_calls'), 'data: [DONE]\n\n'];
    gateway.provider.replyWith(text(chunks.join(''), EVENTS));
    const deepseek = await gateway.virtualKey('deepseek');
    const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }];
    const { text: events } = await stream(deepseek, { tools });
    const output: unknown[] = JSON.parse(
      /"output":(\[.*\]),"parallel/.exec(events.split('response.completed').at(-1) ?? '')?.[1] ?? '[]',
    );
    gateway.provider.forget();
    await post(deepseek, {
      tools,
      input: [ASK, ...output, { type: 'function_call_output', call_id: 'call_1', output: '2' }],
    });
    expect(JSON.parse(onlyCall(gateway.provider).body)).toMatchObject({
      messages: [
        ASK,
        { role: 'assistant', content: null, reasoning_content: 'First add.', tool_calls: [call] },
        { role: 'tool' },
      ],
    });
  });

  it("is refused under a limit with the caller's name of the field that is missing", async () => {
    await gateway.limit({ conditions: [{ key: 'endpoint', value: 'responses' }], type: 'tokens', credit_limit: 1000 });
    const answer = await post(chats, { max_output_tokens: undefined });
    expect([answer.status, errorOf(answer)]).toEqual([
      412,
      expect.objectContaining({ code: 'usage_not_bounded', param: 'max_output_tokens' }),
    ]);
    expect(gateway.provider.calls).toEqual([]);
  });
});
