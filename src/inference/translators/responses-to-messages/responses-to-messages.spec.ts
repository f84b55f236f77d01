import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../common/json/read.js';
import { cutAt, TARGET, translatedBytes, translatedEvents } from '../__fixtures__/translating.js';
import { responsesToChat } from '../responses-to-chat/responses-to-chat.js';
import type { Translation } from '../translator.types.js';
import { responsesToMessages } from './responses-to-messages.js';

const TOOLS = [
  { type: 'function', name: 'add', parameters: {} },
  { type: 'custom', name: 'patch' },
  { type: 'namespace', name: 'mcp__math', tools: [{ type: 'function', name: 'sub' }] },
];
const REQUEST = { model: 'm', input: 'Hi', tools: TOOLS, metadata: { a: 'b' } };
const USAGE = { input_tokens: 8, cache_read_input_tokens: 12, cache_creation_input_tokens: 3, output_tokens: 7 };
const RESPONSE_USAGE = {
  input_tokens: 23,
  input_tokens_details: { cached_tokens: 12, cache_write_tokens: 3 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 30,
};
const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-1' };
const ARGUMENTS = '{"a": 1.50, "b": "ö \\u00e9"}';
const MESSAGE = { type: 'message', id: 'msg_a1_0', status: 'completed', role: 'assistant' };
const TEXT = { ...MESSAGE, content: [{ type: 'output_text', text: 'Héllo', annotations: [], logprobs: [] }] };

function translation(more: JsonObject = {}): Translation {
  return responsesToMessages.translate({ ...REQUEST, ...more }, TARGET);
}
const event = (type: string, more: JsonObject = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const START = event('message_start', { message: { ...HEAD, content: [], usage: { ...USAGE, output_tokens: 1 } } });
const block = (index: number, content_block: JsonObject): string =>
  event('content_block_start', { index, content_block });
const delta = (index: number, piece: JsonObject): string => event('content_block_delta', { index, delta: piece });
const stop = (index: number): string => event('content_block_stop', { index });
const text = (index: number, ...pieces: readonly string[]): string =>
  block(index, { type: 'text', text: '' }) +
  pieces.map((piece) => delta(index, { type: 'text_delta', text: piece })).join('') +
  stop(index);
const call = (index: number, name: string, ...pieces: readonly string[]): string =>
  block(index, { type: 'tool_use', id: `toolu_${index}`, name, input: {} }) +
  pieces.map((partial_json) => delta(index, { type: 'input_json_delta', partial_json })).join('') +
  stop(index);
const END = (stop_reason = 'end_turn'): string =>
  event('message_delta', { delta: { stop_reason }, usage: { output_tokens: 7, input_tokens: null } }) +
  event('message_stop');
const PING = event('ping');

describe('an answer', () => {
  const answer = (content: readonly JsonObject[], stop_reason = 'end_turn'): JsonObject => ({
    ...HEAD,
    content,
    stop_reason,
    usage: USAGE,
  });
  const said = { type: 'text', text: 'Héllo' };

  it.each<[string, JsonObject, readonly JsonObject[], JsonObject?]>([
    ['a text', answer([said]), [TEXT]],
    ['nothing', answer([]), []],
    [
      'an answer that its cap has cut',
      answer([said], 'max_tokens'),
      [TEXT],
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
    ],
    [
      'a refusal',
      answer([said], 'refusal'),
      [TEXT],
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
    ],
    [
      'calls of each kind of tool',
      answer(
        [
          { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
          { type: 'tool_use', id: 't2', name: 'patch', input: { input: 'text' } },
          { type: 'tool_use', id: 't3', name: 'mcp__math__sub', input: {} },
        ],
        'tool_use',
      ),
      [
        { type: 'function_call', id: 'fc_t1', call_id: 't1', name: 'add', arguments: '{"a":1}', status: 'completed' },
        { type: 'custom_tool_call', id: 'ctc_t2', call_id: 't2', name: 'patch', input: 'text', status: 'completed' },
        {
          type: 'function_call',
          id: 'fc_t3',
          call_id: 't3',
          name: 'sub',
          namespace: 'mcp__math',
          arguments: '{}',
          status: 'completed',
        },
      ],
    ],
    [
      'thoughts, and a block that has no item',
      answer([
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'redacted_thinking', data: 'x' },
      ]),
      [{ type: 'reasoning', id: 'rs_a1_0', summary: [{ type: 'summary_text', text: 'Hm.' }] }],
    ],
  ])('translates %s', (_what, given, output, more = {}) => {
    expect(translation().toAnswer(given)).toEqual({
      id: 'resp_msg_1',
      object: 'response',
      created_at: TARGET.now,
      status: 'completed',
      background: false,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      model: 'claude-1',
      output,
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      store: false,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: TOOLS,
      top_p: null,
      truncation: 'disabled',
      usage: RESPONSE_USAGE,
      metadata: { a: 'b' },
      ...more,
    });
  });

  it.each<[string, JsonObject, string, number]>([
    ['no content', { ...HEAD }, 'provider_invalid_response', 502],
    ['a call without a name', answer([{ type: 'tool_use', id: 't' }]), 'provider_invalid_response', 502],
    ['an error', { type: 'error', error: { type: 'overloaded_error', message: 'Broken.' } }, 'provider_failed', 502],
    ['a rate limit', { type: 'error', error: { type: 'rate_limit_error' } }, 'provider_rate_limited', 429],
    ['a bad request', { type: 'error', error: { type: 'invalid_request_error' } }, 'provider_rejected', 400],
  ])('is an error where it has %s', (_what, given, code, status) => {
    expect(() => translation().toAnswer(given)).toThrow(expect.objectContaining({ code, status }));
  });

  it('returns to the provider as it came, when its caller goes on', () => {
    const content = [
      { type: 'text', text: 'Yes.' },
      { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1.5 } },
      { type: 'tool_use', id: 'toolu_2', name: 'patch', input: { input: 'text' } },
      { type: 'tool_use', id: 'toolu_3', name: 'mcp__math__sub', input: {} },
    ];
    const { output } = translation().toAnswer(answer(content, 'tool_use'));
    const { body } = translation({ input: output });
    expect(body['messages']).toEqual([{ role: 'assistant', content }]);
  });
});

describe('a stream', () => {
  it('has the events of a response, in their order', () => {
    const events = translatedEvents(translation(), START + PING + text(0, 'Hé', 'llo') + END());
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, index) => index));
    expect(events.at(-2)).toMatchObject({ output_index: 0, item: TEXT });
  });

  const calls: readonly (readonly [string, string, readonly string[], JsonObject])[] = [
    [
      'a function',
      call(0, 'add', ARGUMENTS.slice(0, 7), ARGUMENTS.slice(7)),
      [
        'response.function_call_arguments.delta',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
      ],
      { type: 'function_call', call_id: 'toolu_0', name: 'add', arguments: ARGUMENTS },
    ],
    [
      'a function without arguments',
      call(0, 'add'),
      ['response.function_call_arguments.done'],
      { type: 'function_call', call_id: 'toolu_0', name: 'add', arguments: '{}' },
    ],
    [
      'a tool that takes a text',
      call(0, 'patch', '{"input":"a', '\\nb"}'),
      ['response.custom_tool_call_input.delta', 'response.custom_tool_call_input.done'],
      { type: 'custom_tool_call', call_id: 'toolu_0', name: 'patch', input: 'a\nb' },
    ],
    [
      'a tool of a namespace',
      call(0, 'mcp__math__sub', '{}'),
      ['response.function_call_arguments.delta', 'response.function_call_arguments.done'],
      { type: 'function_call', call_id: 'toolu_0', name: 'sub', namespace: 'mcp__math', arguments: '{}' },
    ],
  ];

  it.each(calls)('keeps id, name and arguments of a call of %s', (_what, given, between, item) => {
    const events = translatedEvents(translation(), START + given + END('tool_use'));
    expect(events.slice(3, -2).map(({ type }) => type)).toEqual(between);
    expect(events.at(-2)).toMatchObject({ type: 'response.output_item.done', item });
    expect(events.at(-1)).toMatchObject({ response: { status: 'completed', output: [item] } });
  });

  it.each<[string, string, JsonObject]>([
    ['completed', START + text(0, 'Hé', 'llo') + END(), { status: 'completed', output: [TEXT], usage: RESPONSE_USAGE }],
    ['without output', START + END(), { status: 'completed', output: [] }],
    [
      'that its cap has cut, in the middle of a block',
      START + text(0, 'Héllo').replace(stop(0), '') + END('max_tokens'),
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [TEXT] },
    ],
    [
      'with two beginnings',
      START + START + text(0, 'Héllo') + END(),
      { status: 'completed', output: [TEXT], usage: RESPONSE_USAGE },
    ],
    [
      'with events and blocks that are not known',
      START +
        event('hologram') +
        block(0, { type: 'hologram' }) +
        delta(0, { x: 1 }) +
        stop(0) +
        text(1, 'Héllo') +
        END(),
      { output: [TEXT] },
    ],
    [
      'with thoughts',
      START +
        block(0, { type: 'thinking', thinking: '' }) +
        delta(0, { type: 'thinking_delta', thinking: 'Hm.' }) +
        delta(0, { type: 'signature_delta', signature: 's' }) +
        stop(0) +
        END(),
      { output: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] }] },
    ],
  ])('ends with the whole response: one %s', (_what, given, response) => {
    const last = translatedEvents(translation(), given).at(-1);
    expect(last).toMatchObject({ response });
    expect(last?.['type']).toBe(response['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed');
  });

  it('is the same however the bytes are cut', () => {
    const given =
      START + PING + text(0, 'Hé', 'llo') + call(1, 'add', ARGUMENTS) + call(2, 'patch', '{}') + END('tool_use');
    const whole = translatedBytes(translation(), [Buffer.from(given)]);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
        expect(translatedBytes(translation(), cutAt(given, cuts))).toBe(whole);
      }),
    );
  });

  it.each<[string, string, string]>([
    ['breaks off', START + text(0, 'Hé'), 'provider_failed'],
    ['has nothing', '', 'provider_failed'],
    ['has its end alone', event('message_stop'), 'provider_failed'],
    ['reports an error', START + event('error', { error: { type: 'overloaded_error' } }), 'provider_failed'],
    ['reports a rate limit', event('error', { error: { type: 'rate_limit_error' } }), 'provider_rate_limited'],
    ['has a piece of a block that has not begun', START + delta(3, { text: 'Hé' }), 'provider_invalid_response'],
    ['has an event that is not JSON', `${START}data: {"ty\n\n`, 'provider_invalid_response'],
    ['has a call without a name', START + block(0, { type: 'tool_use', id: 't' }), 'provider_invalid_response'],
  ])('is an error where it %s', (_what, given, code) => {
    expect(() => translatedEvents(translation(), given)).toThrow(
      expect.objectContaining({ kind: 'incomplete', cause: expect.objectContaining({ code }) }),
    );
  });
});

it('ends an answer that is longer than its last event may be', () => {
  const stream = translation().newStream();
  const piece = 'x'.repeat(1024 * 1024);
  stream.push({ type: 'message_start', message: HEAD });
  stream.push({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } });
  const say = (): unknown => stream.push({ type: 'content_block_delta', index: 0, delta: { text: piece } });
  for (let made = 0; made < 32; made += 1) say();
  expect(say).toThrow(expect.objectContaining({ code: 'provider_invalid_response' }));
});

describe('a response on a model that speaks chats', () => {
  const chat = (more: JsonObject = {}): Translation => responsesToChat.translate({ ...REQUEST, ...more }, TARGET);
  const chunk = (choice: JsonObject): string =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'm-1', choices: [{ index: 0, ...choice }] })}\n\n`;
  const CALL = { type: 'function_call', call_id: 'functions.add:0', name: 'add', arguments: '{"a":1}' };

  it.each<[string, JsonObject, JsonObject, (readonly string[])?]>([
    ['a text, without a cap', {}, {}],
    ['a cap', { max_output_tokens: 10 }, { max_tokens: 10 }],
    [
      'instructions',
      { instructions: 'Be brief.' },
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Hi' },
        ],
      },
    ],
    ['hints for the cache, and a user', { prompt_cache_key: 'k', user: 'u' }, {}, ['prompt_cache_key', 'user']],
    [
      'JSON without a schema',
      { text: { format: { type: 'json_object' } } },
      { response_format: { type: 'json_object' } },
    ],
    [
      'a call whose id has other characters, and its result',
      { input: [CALL, { type: 'function_call_output', call_id: CALL.call_id, output: '2' }] },
      {
        messages: [
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: CALL.call_id, type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
          },
          { role: 'tool', tool_call_id: CALL.call_id, content: '2' },
        ],
      },
    ],
    [
      'an answer that is begun',
      { input: [{ role: 'assistant', content: 'Yes' }] },
      { messages: [{ role: 'assistant', content: 'Yes' }] },
      ['input.prefill'],
    ],
  ])('translates %s', (_what, more, expected, leftOut = []) => {
    const { body, leftOut: left } = chat({ tools: undefined, ...more });
    expect(body).toEqual({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...expected });
    expect(left).toEqual(leftOut);
  });

  it('refuses what only messages have', () => {
    const input = [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://x.test/a.pdf' }] }];
    expect(() => chat({ input })).toThrow(expect.objectContaining({ code: 'unsupported_parameter', param: 'input' }));
  });

  it('keeps thoughts, words, calls and figures, however the bytes are cut', () => {
    const given =
      chunk({ delta: { reasoning_content: 'Hm.' } }) +
      chunk({ delta: { content: 'Hé' } }) +
      chunk({ delta: { content: 'llo' } }) +
      chunk({ delta: { tool_calls: [{ index: 0, id: CALL.call_id, function: { name: 'add', arguments: '{"a"' } }] } }) +
      chunk({
        delta: { tool_calls: [{ index: 1, id: 'c2', function: { name: 'patch', arguments: '{"input":"x"}' } }] },
      }) +
      chunk({ delta: { tool_calls: [{ index: 0, function: { arguments: ':1}' } }] } }) +
      chunk({ delta: {}, finish_reason: 'tool_calls' }) +
      'data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":7}}\n\ndata: [DONE]\n\n';
    expect(translatedEvents(chat(), given).at(-1)).toMatchObject({
      type: 'response.completed',
      response: {
        id: 'resp_chatcmpl-1',
        output: [
          { type: 'reasoning', summary: [{ text: 'Hm.' }] },
          { type: 'message', content: [{ text: 'Héllo' }] },
          CALL,
          { type: 'custom_tool_call', call_id: 'c2', name: 'patch', input: 'x' },
        ],
        usage: { input_tokens: 20, output_tokens: 7, total_tokens: 27 },
      },
    });
    const whole = translatedBytes(chat(), [Buffer.from(given)]);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
        expect(translatedBytes(chat(), cutAt(given, cuts))).toBe(whole);
      }),
    );
  });

  it('is an error where the stream breaks off', () => {
    expect(() => translatedEvents(chat(), chunk({ delta: { content: 'Hé' } }))).toThrow(
      expect.objectContaining({ cause: expect.objectContaining({ code: 'provider_failed' }) }),
    );
  });

  it('translates a whole answer', () => {
    const choices = [{ message: { content: 'Héllo' }, finish_reason: 'length' }];
    expect(chat().toAnswer({ id: 'c', model: 'm-1', choices })).toMatchObject({
      id: 'resp_c',
      status: 'incomplete',
      output: [TEXT],
    });
  });
});
