// Bodies of responses at the address of chats, as Cursor sends them: its caller reads the answer of a chat.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import type { Stream } from 'openai/streaming';
import { isObject, readArray, readObject } from '../src/common/json/read.js';
import { json, onlyCall, text } from './support/fake-provider.js';
import { readStream } from './support/read-stream.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const PATH = '/v1/chat/completions';
const EVENTS = 'text/event-stream';
const PATCH = { type: 'custom', name: 'ApplyPatch', description: 'Patches.' };
const GRAMMAR = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
const READ = { type: 'function', name: 'read_file', parameters: { type: 'object' }, strict: false };
/** In the shape of an agent of Cursor. */
const BODY = {
  user: 'auth0|u1',
  model: 'm',
  input: [
    { role: 'system', content: 'You are a coding agent.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Read a.py' }] },
    { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a.py"}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'print(42)' },
  ],
  tools: [READ, { ...PATCH, format: GRAMMAR }],
  tool_choice: 'auto',
  include: ['reasoning.encrypted_content'],
  reasoning: { effort: 'medium', summary: 'auto' },
  text: { verbosity: 'low' },
  max_output_tokens: 100,
  stream_options: { include_usage: true },
};
const USAGE = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 12 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 27,
};
const IN_CHAT = {
  prompt_tokens: 20,
  prompt_tokens_details: { cached_tokens: 12 },
  completion_tokens: 7,
  completion_tokens_details: { reasoning_tokens: 2 },
  total_tokens: 27,
};
const CALL = { type: 'function_call', id: 'fc_1', call_id: 'call_2', name: 'read_file', arguments: '{"path":"b.py"}' };
const CUSTOM = { type: 'custom_tool_call', id: 'ct_1', call_id: 'call_3', name: 'ApplyPatch', input: '*** Begin' };
const HEAD = { id: 'resp_1', object: 'response', created_at: 1_700_000_000, model: 'gpt-1', status: 'completed' };
const CHAT_HEAD = { id: 'chatcmpl-1', created: 1_700_000_000, model: 'gpt-1' };
const CALLS = [
  { id: 'call_2', type: 'function', function: { name: 'read_file', arguments: '{"path":"b.py"}' } },
  { id: 'call_3', type: 'custom', custom: { name: 'ApplyPatch', input: '*** Begin' } },
];
const event = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const BEGUN =
  event('response.created', { response: { ...HEAD, status: 'in_progress', output: [], error: null } }) +
  event('response.output_item.added', { output_index: 0, item: { type: 'message', content: [] } }) +
  event('response.output_text.delta', { output_index: 0, delta: 'Hel' }) +
  event('response.output_text.delta', { output_index: 0, delta: 'lo' });
const ENDED =
  event('response.output_item.added', { output_index: 1, item: { ...CALL, arguments: '' } }) +
  event('response.function_call_arguments.delta', { output_index: 1, delta: '{"path":' }) +
  event('response.function_call_arguments.delta', { output_index: 1, delta: '"b.py"}' }) +
  event('response.output_item.done', { output_index: 1, item: CALL }) +
  event('response.output_item.added', { output_index: 2, item: { ...CUSTOM, input: '' } }) +
  event('response.output_item.done', { output_index: 2, item: CUSTOM }) +
  event('response.completed', { response: { ...HEAD, output: [], usage: USAGE, error: null } });

let gateway: UsageGateway;
let openai: string;
let anthropic: string;
let chatsOnly: string;
let anyServer: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  openai = await gateway.virtualKey('openai');
  anthropic = await gateway.virtualKey('anthropic');
  chatsOnly = await gateway.virtualKey('together');
  anyServer = await gateway.virtualKey('openai-compatible');
});
beforeEach(() => gateway.reset());
afterAll(() => gateway.close());

const headersFor = (slug: string): Readonly<Record<string, string>> => ({
  'content-type': 'application/json',
  authorization: `Bearer ${ADMIN_KEY}`,
  'x-gateway-virtual-key': slug,
});

function post(slug: string, body: object): Promise<Answer> {
  return send(gateway.app.url + PATH, { headers: headersFor(slug), body: JSON.stringify(body) });
}

/** The chunks of a stream, as the SDK of OpenAI reads them. */
async function chunksOf(slug: string, more: object = {}): Promise<readonly OpenAI.ChatCompletionChunk[]> {
  const client = new OpenAI({ baseURL: `${gateway.app.url}/v1`, apiKey: ADMIN_KEY, maxRetries: 0 });
  const stream = await client.post<Stream<OpenAI.ChatCompletionChunk>>('/chat/completions', {
    body: { ...BODY, stream: true, ...more },
    headers: { 'x-gateway-virtual-key': slug },
    stream: true,
  });
  const chunks: OpenAI.ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** The text and the calls of all chunks, put together by their places. */
function whole(chunks: readonly OpenAI.ChatCompletionChunk[]): unknown {
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  const calls: Record<string, unknown>[] = [];
  for (const piece of deltas.flatMap(({ tool_calls }) => readArray(tool_calls ?? [], 'tool_calls'))) {
    const { index, ...more } = readObject(piece, 'tool_call');
    calls[Number(index)] = merged(calls[Number(index)] ?? {}, more);
  }
  const reason = chunks.flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason)).findLast(Boolean);
  return { text: deltas.map(({ content }) => content ?? '').join(''), calls, reason };
}

function merged(before: Record<string, unknown>, more: object): Record<string, unknown> {
  const next = { ...before };
  for (const [name, value] of Object.entries(more)) {
    const known = next[name];
    if (typeof known === 'string' && name !== 'id') next[name] = known + String(value);
    else if (isObject(known) && isObject(value)) next[name] = merged({ ...known }, value);
    else next[name] = value;
  }
  return next;
}

describe('a response at the address of chats, for a provider that has responses', () => {
  it('is sent as a response, answered as a chat, and is a chat in the ledger', async () => {
    const said = { type: 'message', content: [{ type: 'output_text', text: 'Hello' }] };
    const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm' }] };
    gateway.provider.replyWith(json({ ...HEAD, output: [thought, said, CALL, CUSTOM], usage: USAGE }));
    const answer = await post(openai, BODY);
    expect([answer.status, jsonOf(answer)]).toEqual([
      200,
      {
        ...CHAT_HEAD,
        object: 'chat.completion',
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: 'Hello', refusal: null, reasoning_content: 'Hm', tool_calls: CALLS },
            logprobs: null,
            finish_reason: 'tool_calls',
          },
        ],
        usage: IN_CHAT,
      },
    ]);
    expect(answer.headers['x-gateway-translated']).toBe('responses-for-chat');
    const { path, body } = onlyCall(gateway.provider);
    const { stream_options: _options, ...sent } = BODY;
    expect([path, JSON.parse(body)]).toEqual(['/responses', { ...sent, store: false }]);
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ endpoint: 'chat', quantities: { input: 8, cache_read: 12, output: 7 } });
  });

  it('streams chunks that the SDK of OpenAI reads, with the usage that was asked for', async () => {
    gateway.provider.replyWith(text(BEGUN + ENDED, EVENTS));
    const chunks = await chunksOf(openai);
    expect(whole(chunks)).toEqual({ text: 'Hello', calls: CALLS, reason: 'tool_calls' });
    expect(chunks[0]).toMatchObject({ ...CHAT_HEAD, choices: [{ delta: { role: 'assistant' } }] });
    expect(chunks.at(-1)).toEqual({ ...CHAT_HEAD, object: 'chat.completion.chunk', choices: [], usage: IN_CHAT });
    gateway.provider.replyWith(text(BEGUN + ENDED, EVENTS));
    const silent = await chunksOf(openai, { stream_options: undefined });
    expect(silent.every((chunk) => !('usage' in chunk))).toBe(true);
  });

  it.each([
    ['max_tokens', { max_tokens: 50 }, 50],
    ['max_completion_tokens', { max_completion_tokens: 60, max_tokens: 50 }, 60],
    ['neither beside its own', { max_output_tokens: 70, max_tokens: 50 }, 70],
  ])('takes the output cap of a chat: %s', async (_name, caps, cap) => {
    gateway.provider.replyWith(json({ ...HEAD, output: [], usage: USAGE }));
    const { max_output_tokens: _cap, ...uncapped } = BODY;
    expect((await post(openai, { ...uncapped, ...caps })).status).toBe(200);
    const sent: unknown = JSON.parse(onlyCall(gateway.provider).body);
    expect(sent).toMatchObject({ max_output_tokens: cap });
    expect(Object.keys(readObject(sent, 'body'))).not.toContain('max_tokens');
  });

  it.each([
    [{ incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [{ incomplete_details: { reason: 'content_filter' } }, 'content_filter'],
    [{}, 'stop'],
  ])('says why the answer ends: %j', async (more, reason) => {
    gateway.provider.replyWith(json({ ...HEAD, output: [], usage: USAGE, ...more }));
    expect(jsonOf(await post(openai, BODY))['choices']).toMatchObject([{ finish_reason: reason }]);
  });

  it('ends a stream that fails with the error of a chat, and a cut', async () => {
    const error = { code: 'server_error', message: 'Sorry.' };
    for (const last of [
      event('response.failed', { response: { ...HEAD, status: 'failed', error } }),
      event('error', error),
      '',
    ]) {
      gateway.provider.replyWith(text(BEGUN + last, EVENTS));
      const { text: chunks, end } = await readStream(gateway.app.url + PATH, headersFor(openai), {
        ...BODY,
        stream: true,
      });
      expect([end, chunks.includes('"content":"lo"'), chunks.includes('[DONE]')]).toEqual(['broken', true, false]);
      expect(chunks).toMatch(/\ndata: \{"error":\{.*\}\}\n\n$/);
    }
  });

  it('refuses one that is answered later, or with a field that comes twice', async () => {
    expect(refusalOf(await post(openai, { ...BODY, background: true }))).toMatchObject({
      status: 400,
      param: 'background',
    });
    const twice = `{"model":"m","input":"a","input":"b"}`;
    const answer = await send(gateway.app.url + PATH, { headers: headersFor(openai), body: twice });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'input' });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('counts under a usage limit as a response does, and is refused in the words of its caller', async () => {
    await gateway.limit({ type: 'tokens', credit_limit: 10 });
    expect(refusalOf(await post(openai, BODY))).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    const { max_output_tokens: _cap, ...uncapped } = BODY;
    const unbounded = await post(openai, { ...uncapped, model: 'unknown' });
    expect(refusalOf(unbounded)).toMatchObject({ status: 412, code: 'usage_not_bounded', param: 'max_output_tokens' });
    expect(gateway.provider.calls).toEqual([]);
  });
});

describe('a response at the address of chats, for a provider without responses', () => {
  const chat = {
    id: 'chatcmpl-9',
    model: 'chat-1',
    choices: [{ message: { content: 'Hello', tool_calls: inFunctions() }, finish_reason: 'tool_calls' }],
    usage: { prompt_tokens: 20, completion_tokens: 7 },
  };

  it('is translated to a chat, where its custom tools are functions, and back', async () => {
    for (const slug of [chatsOnly, anyServer]) {
      gateway.provider.forget();
      gateway.provider.replyWith(json(chat));
      const answer = await post(slug, BODY);
      expect([answer.status, jsonOf(answer)['choices']]).toMatchObject([
        200,
        [{ message: { content: 'Hello', tool_calls: CALLS }, finish_reason: 'tool_calls' }],
      ]);
      const { path, body } = onlyCall(gateway.provider);
      expect(path).toMatch(/\/chat\/completions$/);
      expect(JSON.parse(body)).toMatchObject({
        messages: [
          { role: 'system', content: 'You are a coding agent.' },
          { role: 'user' },
          { role: 'assistant', tool_calls: [{ id: 'call_1' }] },
          { role: 'tool', tool_call_id: 'call_1' },
        ],
        tools: [{ function: { name: 'read_file' } }, { function: { name: 'ApplyPatch' } }],
      });
      expect(answer.headers['x-gateway-warnings']).toContain('param=reasoning');
    }
  });

  it('streams from a chat', async () => {
    const chunk = (delta: object, finish_reason: string | null = null): string =>
      `data: ${JSON.stringify({ id: 'c', model: 'x', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    const calls = inFunctions().map((call, index) => chunk({ tool_calls: [{ index, ...call }] }));
    const events = [chunk({ content: 'Hello' }), ...calls, chunk({}, 'tool_calls'), 'data: [DONE]\n\n'];
    gateway.provider.replyWith(text(events.join(''), EVENTS));
    expect(whole(await chunksOf(chatsOnly))).toEqual({ text: 'Hello', calls: CALLS, reason: 'tool_calls' });
  });

  it('is translated to messages', async () => {
    const content = [
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'call_2', name: 'read_file', input: { path: 'b.py' } },
    ];
    const usage = { input_tokens: 8, cache_read_input_tokens: 12, output_tokens: 7 };
    gateway.provider.replyWith(json({ id: 'msg_1', model: 'claude-1', content, stop_reason: 'tool_use', usage }));
    const answer = await post(anthropic, BODY);
    expect([answer.status, jsonOf(answer)]).toMatchObject([
      200,
      {
        object: 'chat.completion',
        choices: [{ message: { tool_calls: CALLS.slice(0, 1) } }],
        usage: { prompt_tokens: 20 },
      },
    ]);
    expect(onlyCall(gateway.provider).path).toBe('/v1/messages');
  });

  it('is refused where the provider would have to have kept something', async () => {
    const refused = await post(anthropic, { ...BODY, previous_response_id: 'resp_1' });
    expect(refusalOf(refused)).toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
      param: 'previous_response_id',
    });
  });
});

describe('a chat', () => {
  it.each([
    ['with messages beside an input', { messages: [{ role: 'user', content: 'Hi' }], input: 'x' }],
    ['whose tool has a parameter input', { messages: [], tools: [{ type: 'function', function: { input: 'x' } }] }],
    ['without messages', {}],
    ['whose text speaks of input', { messages: [{ role: 'user', content: '"input": 1' }] }],
  ])('passes as it came: %s', async (_name, more) => {
    gateway.provider.replyWith(json({ choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }));
    const body = { model: 'm', max_tokens: 5, ...more };
    const answer = await post(openai, body);
    expect([answer.status, answer.headers['x-gateway-translated']]).toEqual([200, undefined]);
    const { path, body: sent } = onlyCall(gateway.provider);
    expect([path, sent]).toEqual(['/chat/completions', JSON.stringify(body)]);
  });
});

describe('a chat with the flat tools of a response', () => {
  const nested = { type: 'function', function: { name: 'read_file', parameters: { type: 'object' }, strict: false } };
  const messages = [{ role: 'user', content: 'Hi' }];
  const USED = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };

  it('is sent with those of a chat, and with every other byte as it came', async () => {
    gateway.provider.replyWith(json(USED));
    const tools = JSON.stringify([READ, nested, { ...PATCH, format: GRAMMAR }, { type: 'web_search' }]);
    const choice = '{"type":"function","name":"read_file"}';
    const bodyWith = (list: string, chosen: string): string =>
      `{ "model":"m", "tools":${list},"seed":1.50,"tool_choice":${chosen},"messages":${JSON.stringify(messages)}}`;
    const answer = await send(gateway.app.url + PATH, { headers: headersFor(openai), body: bodyWith(tools, choice) });
    expect([answer.status, answer.headers['x-gateway-translated']]).toEqual([200, 'flat-tools']);
    const { type, syntax, definition } = GRAMMAR;
    const patch = {
      name: PATCH.name,
      description: PATCH.description,
      format: { type, grammar: { syntax, definition } },
    };
    const sent = [nested, nested, { type: 'custom', custom: patch }, { type: 'web_search' }];
    expect(onlyCall(gateway.provider).body).toBe(
      bodyWith(JSON.stringify(sent), '{"type":"function","function":{"name":"read_file"}}'),
    );
  });

  it('is translated with them', async () => {
    gateway.provider.replyWith(json({ content: [], usage: { input_tokens: 1, output_tokens: 1 } }));
    const answer = await post(anthropic, { model: 'm', max_tokens: 5, messages, tools: [READ] });
    expect([answer.status, answer.headers['x-gateway-translated']]).toEqual([200, 'chat-to-messages']);
    expect(JSON.parse(onlyCall(gateway.provider).body)).toMatchObject({ tools: [{ name: 'read_file' }] });
  });
});

/** The same calls of a model that knows functions alone. */
function inFunctions(): readonly { readonly id: string; readonly type: string; readonly function: object }[] {
  const input = JSON.stringify({ input: '*** Begin' });
  return [
    { id: 'call_2', type: 'function', function: { name: 'read_file', arguments: '{"path":"b.py"}' } },
    { id: 'call_3', type: 'function', function: { name: 'ApplyPatch', arguments: input } },
  ];
}
