import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../common/json/read.js';
import { cutAt, refusalOf, TARGET, translatedBytes, translatedEvents } from '../__fixtures__/translating.js';
import { eventFormOf } from '../translators.js';
import type { Translation } from '../translator.types.js';
import { chatToMessages } from './chat-to-messages.js';

/** Too much for a regular expression that repeats a group. */
const ENDLESS = `data:image/png${';a=b'.repeat(2_000_000)}`;
const ASK = { role: 'user', content: 'Hi' };
const BASE = { model: 'm', max_completion_tokens: 10, messages: [ASK] };
const TOOL = { type: 'function', function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } } };
const MESSAGE_TOOL = { name: 'add', description: 'Adds.', input_schema: { type: 'object' } };
const CALL = { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
const USE = { type: 'tool_use', id: 'call_1', name: 'add', input: { a: 1 } };
const CACHE = { cache_control: { type: 'ephemeral' } };
const CHUNKS = eventFormOf('openai-chat');

function translation(more: JsonObject = {}): Translation {
  return chatToMessages.translate({ ...BASE, ...more }, TARGET);
}
const chat = (...messages: readonly JsonObject[]): JsonObject => ({ messages });
const user = (...content: readonly JsonObject[]): JsonObject => chat({ role: 'user', content });
const blocks = (...content: readonly JsonObject[]): JsonObject => chat({ role: 'user', content });

/** Each: what the chat has besides the base, what the message has besides its base, and what is left out. */
const FORMS: readonly (readonly [string, JsonObject, JsonObject, (readonly string[])?])[] = [
  ['a text', {}, {}],
  ['the former name of the cap', { max_completion_tokens: undefined, max_tokens: 5 }, { max_tokens: 5 }],
  ['no cap', { max_completion_tokens: null }, { max_tokens: 32_000 }],
  ['a stream', { stream: true, stream_options: { include_usage: true } }, { stream: true }],
  ['sampling', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
  ['one stop sequence', { stop: 'a' }, { stop_sequences: ['a'] }],
  ['stop sequences', { stop: ['a', 'b'] }, { stop_sequences: ['a', 'b'] }],
  ['no stop sequences', { stop: [] }, {}],
  ['one answer', { n: 1 }, {}],
  [
    'instructions',
    chat({ role: 'system', content: 'One.' }, { role: 'developer', content: [{ type: 'text', text: 'Two.' }] }, ASK),
    { system: 'One.\n\nTwo.' },
  ],
  [
    'instructions after an answer',
    chat(ASK, { role: 'assistant', content: 'Yes.' }, { role: 'system', content: 'Be brief.' }),
    chat(ASK, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Be brief.' }),
  ],
  [
    'texts without a word',
    chat(
      { role: 'system', content: ' ' },
      {
        role: 'user',
        content: [
          { type: 'text', text: ' \n' },
          { type: 'text', text: 'Hi' },
        ],
      },
    ),
    chat(ASK),
  ],
  [
    'the beginning of an answer that ends in a space',
    chat({ role: 'assistant', content: 'Yes. ' }, ASK, { role: 'assistant', content: 'The answer is ' }),
    chat({ role: 'assistant', content: 'Yes. ' }, ASK, { role: 'assistant', content: 'The answer is' }),
  ],
  ['a name', chat({ ...ASK, name: 'Ann' }), {}, ['messages.name']],
  [
    'an image',
    user({ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } }),
    blocks({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }),
    ['messages.content.image_url.detail'],
  ],
  ...['data:image/JPG;base64,AAAA', 'data:image/jpeg;charset=utf-8;base64,AAAA'].map(
    (url) =>
      [
        `an image as ${url}`,
        user({ type: 'image_url', image_url: { url } }),
        blocks({ type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } }),
      ] as const,
  ),
  [
    'the address of an image with a head that does not end',
    user({ type: 'image_url', image_url: { url: ENDLESS } }),
    blocks({ type: 'image', source: { type: 'url', url: ENDLESS } }),
  ],
  [
    'the address of an image',
    user({ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }),
    blocks({ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }),
  ],
  [
    'a PDF',
    user({ type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } }),
    blocks({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
      title: 'a.pdf',
    }),
  ],
  ['a tool', { tools: [TOOL] }, { tools: [MESSAGE_TOOL] }],
  [
    'a strict tool without parameters',
    { tools: [{ type: 'function', function: { name: 'now', strict: true } }] },
    { tools: [{ name: 'now', input_schema: { type: 'object', properties: {} } }] },
    ['tools.strict'],
  ],
  ['no tools', { tools: [], tool_choice: 'auto' }, {}],
  ['a free choice', { tools: [TOOL], tool_choice: 'auto' }, { tools: [MESSAGE_TOOL] }],
  ['no tool', { tools: [TOOL], tool_choice: 'none' }, { tools: [MESSAGE_TOOL], tool_choice: { type: 'none' } }],
  ['any tool', { tools: [TOOL], tool_choice: 'required' }, { tools: [MESSAGE_TOOL], tool_choice: { type: 'any' } }],
  [
    'one tool, once',
    { tools: [TOOL], tool_choice: { type: 'function', function: { name: 'add' } }, parallel_tool_calls: false },
    { tools: [MESSAGE_TOOL], tool_choice: { type: 'tool', name: 'add', disable_parallel_tool_use: true } },
  ],
  [
    'one call at a time',
    { tools: [TOOL], parallel_tool_calls: false },
    { tools: [MESSAGE_TOOL], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  [
    'a round trip with a tool',
    chat(
      ASK,
      { role: 'assistant', content: 'I add.', tool_calls: [CALL] },
      { role: 'tool', tool_call_id: 'call_1', content: '2' },
      ASK,
    ),
    chat(
      ASK,
      { role: 'assistant', content: [{ type: 'text', text: 'I add.' }, USE] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: '2' },
          { type: 'text', text: 'Hi' },
        ],
      },
    ),
  ],
  [
    'results in parts, for two calls whose ids have other characters',
    chat(
      { role: 'assistant', content: null, tool_calls: [CALL, { ...CALL, id: 'f.x:1' }] },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: '2' }] },
      { role: 'tool', tool_call_id: 'f.x:1', content: '' },
    ),
    chat(
      { role: 'assistant', content: [USE, { ...USE, id: 'f_x_1' }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: '2' }] },
          { type: 'tool_result', tool_use_id: 'f_x_1', content: '' },
        ],
      },
    ),
  ],
  [
    'a refusal, and thoughts of another provider',
    chat(ASK, { role: 'assistant', refusal: 'No.', reasoning_content: 'Hm.' }),
    chat(ASK, { role: 'assistant', content: 'No.' }),
    ['messages.reasoning_content'],
  ],
  ['a key of the cache', { prompt_cache_key: 'k' }, blocks({ type: 'text', text: 'Hi', ...CACHE })],
  ['a user', { user: 'u' }, { metadata: { user_id: 'u' } }],
  [
    'a schema of the answer',
    { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } } },
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
  ],
  ['JSON without a schema', { response_format: { type: 'json_object' } }, {}, ['response_format']],
  [
    'what has no equivalent',
    {
      seed: 1,
      reasoning_effort: 'low',
      logprobs: true,
      store: true,
      service_tier: 'flex',
      modalities: ['text', 'audio'],
    },
    {},
    ['seed', 'reasoning_effort', 'store', 'logprobs', 'service_tier', 'modalities'],
  ],
  ['defaults', { logprobs: false, store: false, service_tier: 'auto', modalities: ['text'], seed: null }, {}],
];

const REFUSED: readonly (readonly [string, JsonObject, string, string?])[] = [
  ['several answers', { n: 2 }, 'n'],
  ['functions of the former kind', { functions: [{}] }, 'functions'],
  ['an answer as sound', { audio: {} }, 'audio'],
  ['a search of the provider', { web_search_options: {} }, 'web_search_options'],
  ['a custom tool', { tools: [{ type: 'custom', custom: {} }] }, 'tools.0'],
  ['a choice among some tools', { tools: [TOOL], tool_choice: { type: 'allowed_tools' } }, 'tool_choice'],
  ['sound', user({ type: 'input_audio', input_audio: {} }), 'messages.0.content.0'],
  ['a stored file', user({ type: 'file', file: { file_id: 'f' } }), 'messages.0.content.0.file'],
  ['the result of a former function', chat({ role: 'function', content: '' }), 'messages.0.role'],
  ['no messages', { messages: undefined }, 'messages', 'validation_failed'],
  ['a message that is a text', { messages: ['Hi'] }, 'messages.0', 'validation_failed'],
  ['a user without content', chat({ role: 'user' }), 'messages.0.content', 'validation_failed'],
  ['a result without an id', chat({ role: 'tool', content: '' }), 'messages.0.tool_call_id', 'validation_failed'],
  [
    'a call without an id',
    chat({ role: 'assistant', tool_calls: [{ function: CALL.function }] }),
    'messages.0.tool_calls.0.id',
    'validation_failed',
  ],
  [
    'a tool without a name',
    { tools: [{ type: 'function', function: {} }] },
    'tools.0.function.name',
    'validation_failed',
  ],
];

describe('a chat as a message', () => {
  it.each(FORMS)('translates %s', (_what, more, expected, leftOut = []) => {
    const { body, leftOut: left } = translation(more);
    expect(body).toEqual({ model: 'm', max_tokens: 10, messages: [ASK], ...expected });
    expect(left).toEqual(leftOut);
  });

  it.each(REFUSED)('refuses %s, and names the field', (_what, more, param, code = 'unsupported_parameter') => {
    expect(refusalOf(() => translation(more))).toEqual({ code, param, status: 400 });
  });
});

const USAGE = { input_tokens: 8, cache_read_input_tokens: 12, cache_creation_input_tokens: 3, output_tokens: 7 };
const CHAT_USAGE = {
  prompt_tokens: 23,
  completion_tokens: 7,
  total_tokens: 30,
  prompt_tokens_details: { cached_tokens: 12, cache_write_tokens: 3 },
};
const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-1' };

describe('an answer', () => {
  const answer = (content: readonly JsonObject[], stop_reason: string): JsonObject => ({
    ...HEAD,
    content,
    stop_reason,
    usage: USAGE,
  });
  const text = { type: 'text', text: 'Yes.' };

  it.each<[string, JsonObject, JsonObject, string]>([
    ['a text', answer([text], 'end_turn'), { content: 'Yes.' }, 'stop'],
    ['two texts', answer([text, text], 'end_turn'), { content: 'Yes.Yes.' }, 'stop'],
    ['nothing', answer([], 'end_turn'), { content: '' }, 'stop'],
    ['an answer that a sequence has stopped', answer([text], 'stop_sequence'), { content: 'Yes.' }, 'stop'],
    ['an answer that its cap has cut', answer([text], 'max_tokens'), { content: 'Yes.' }, 'length'],
    ['a refusal', answer([text], 'refusal'), { content: 'Yes.' }, 'content_filter'],
    ['a reason that is not known', answer([text], 'hologram'), { content: 'Yes.' }, 'stop'],
    ['calls of the provider alone', answer([{ ...USE, type: 'server_tool_use' }], 'tool_use'), { content: '' }, 'stop'],
    ['a call', answer([USE], 'tool_use'), { content: null, tool_calls: [CALL] }, 'tool_calls'],
    [
      'thoughts, a text and a call without input',
      answer([{ type: 'thinking', thinking: 'Hm.' }, text, { ...USE, input: undefined }], 'tool_use'),
      {
        content: 'Yes.',
        reasoning_content: 'Hm.',
        tool_calls: [{ ...CALL, function: { name: 'add', arguments: '{}' } }],
      },
      'tool_calls',
    ],
  ])('translates %s', (_what, given, message, finish_reason) => {
    expect(translation().toAnswer(given)).toEqual({
      id: 'chatcmpl-msg_1',
      object: 'chat.completion',
      created: TARGET.now,
      model: 'claude-1',
      choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...message }, logprobs: null, finish_reason }],
      usage: CHAT_USAGE,
    });
  });

  it.each<[string, JsonObject, string]>([
    ['no content', { ...HEAD }, 'provider_invalid_response'],
    ['a call without a name', answer([{ type: 'tool_use', id: 't' }], 'tool_use'), 'provider_invalid_response'],
    ['an error', { type: 'error', error: { type: 'overloaded_error' } }, 'provider_failed'],
  ])('is an error where it has %s', (_what, given, code) => {
    expect(() => translation().toAnswer(given)).toThrow(expect.objectContaining({ code }));
  });
});

describe('a stream', () => {
  const event = (type: string, more: JsonObject = {}): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
  const START = event('message_start', { message: { ...HEAD, content: [], usage: { ...USAGE, output_tokens: 1 } } });
  const block = (index: number, content_block: JsonObject): string =>
    event('content_block_start', { index, content_block });
  const piece = (index: number, delta: JsonObject): string => event('content_block_delta', { index, delta });
  const stop = (index: number): string => event('content_block_stop', { index });
  const WORDS =
    block(0, { type: 'text', text: '' }) +
    piece(0, { text: 'Hé' }) +
    event('ping') +
    piece(0, { text: 'llo' }) +
    stop(0);
  const CALLS =
    block(1, { type: 'tool_use', id: 't1', name: 'add', input: {} }) +
    piece(1, { partial_json: '{"a": 1.5' }) +
    piece(1, { partial_json: '0}' }) +
    stop(1) +
    block(2, { type: 'tool_use', id: 't2', name: 'now', input: {} }) +
    stop(2);
  const END = (stop_reason: string): string =>
    event('message_delta', { delta: { stop_reason }, usage: { output_tokens: 7, input_tokens: null } }) +
    event('message_stop');
  const asking = { stream_options: { include_usage: true } };

  it('has the chunks of a chat, without the usage that was not asked for', () => {
    const whole = translatedBytes(translation(), [Buffer.from(START + WORDS + END('end_turn'))], CHUNKS);
    const head = { id: 'chatcmpl-msg_1', object: 'chat.completion.chunk', created: TARGET.now, model: 'claude-1' };
    const chunks = [
      [{ role: 'assistant', content: '', refusal: null }, null],
      [{ content: 'Hé' }, null],
      [{ content: 'llo' }, null],
      [{}, 'stop'],
    ].map(([delta, finish_reason]) => ({ ...head, choices: [{ index: 0, delta, logprobs: null, finish_reason }] }));
    expect(whole).toBe(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('') + CHUNKS.endMark);
  });

  it('has the usage at its end, where it was asked for', () => {
    const events = translatedEvents(translation(asking), START + WORDS + END('max_tokens'));
    expect(events.at(-1)).toMatchObject({ choices: [], usage: CHAT_USAGE });
    expect(events.at(-2)).toMatchObject({ choices: [{ finish_reason: 'length' }], usage: null });
  });

  it('keeps id, name and arguments of each call', () => {
    const calls: Record<string, string>[] = [];
    for (const { choices } of translatedEvents(translation(), START + WORDS + CALLS + END('tool_use'))) {
      const [{ delta }] = JSON.parse(JSON.stringify(choices));
      for (const { index, id, function: called } of delta.tool_calls ?? []) {
        const known = (calls[index] ??= { id, name: called.name, json: '' });
        known['json'] += called.arguments;
      }
    }
    expect(calls).toEqual([
      { id: 't1', name: 'add', json: '{"a": 1.50}' },
      { id: 't2', name: 'now', json: '{}' },
    ]);
  });

  it('is the same however the bytes are cut', () => {
    const given = START + WORDS + CALLS + END('tool_use');
    const whole = translatedBytes(translation(asking), [Buffer.from(given)], CHUNKS);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 40 }), (cuts) => {
        expect(translatedBytes(translation(asking), cutAt(given, cuts), CHUNKS)).toBe(whole);
      }),
    );
  });

  it.each<[string, string, string]>([
    ['breaks off', START + WORDS, 'provider_failed'],
    ['has nothing', '', 'provider_failed'],
    ['reports an error', START + event('error', { error: { type: 'overloaded_error' } }), 'provider_failed'],
    ['has an event that is not JSON', `${START}data: {"ty\n\n`, 'provider_invalid_response'],
    ['has a call without a name', START + block(0, { type: 'tool_use', id: 't' }), 'provider_invalid_response'],
  ])('is an error where it %s, without an end mark', (_what, given, code) => {
    expect(() => translatedBytes(translation(), [Buffer.from(given)], CHUNKS)).toThrow(
      expect.objectContaining({ kind: 'incomplete', cause: expect.objectContaining({ code }) }),
    );
  });
});
