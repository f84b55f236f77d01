import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../../../common/json/read.js';
import { translatorFor } from '../translators.js';
import { cutAt, refusalOf, TARGET, translatedBytes, translatedEvents } from '../__fixtures__/translating.js';
import { messagesToConverse } from './messages-to-converse.js';

const BASE = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] };
const CLAUDE = { ...TARGET, pricedModel: 'us.anthropic.claude-sonnet-4-6' };
const MARK = { cache_control: { type: 'ephemeral' } };
const SEARCH = { type: 'web_search_20250305', name: 'web_search' };
const USAGE = { inputTokens: 9, outputTokens: 5, cacheReadInputTokens: 4, cacheWriteInputTokens: 3 };

const requestOf = (more: object, target = TARGET): JsonObject =>
  messagesToConverse.translate({ ...BASE, ...more }, target).body;
const contentOf = (content: unknown, target = TARGET): unknown => {
  const { messages } = requestOf({ messages: [{ role: 'user', content }] }, target);
  return Array.isArray(messages) ? messages[0]?.content : undefined;
};
const leftOutOf = (more: object, target = TARGET): readonly string[] =>
  messagesToConverse.translate({ ...BASE, ...more }, target).leftOut;
const line = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

describe('a request', () => {
  it('has its settings where Converse has them, and no model', () => {
    expect(requestOf({ temperature: 0.5, top_p: 0.9, stop_sequences: ['x'], system: 'Be kind', stream: true })).toEqual(
      {
        messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
        system: [{ text: 'Be kind' }],
        inferenceConfig: { maxTokens: 100, temperature: 0.5, topP: 0.9, stopSequences: ['x'] },
      },
    );
  });

  it.each<[string, object, unknown]>([
    ['a text', { type: 'text', text: 'a' }, [{ text: 'a' }]],
    ['no block for an empty text', { type: 'text', text: '' }, undefined],
    [
      'an image',
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } },
      [{ image: { format: 'png', source: { bytes: 'AA' } } }],
    ],
    [
      'a PDF, under a name that Converse allows',
      { type: 'document', title: 'a/b.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'AA' } },
      [{ document: { format: 'pdf', name: 'a b pdf 1', source: { bytes: 'AA' } } }, { text: 'See the document.' }],
    ],
    [
      'a call',
      { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
      [{ toolUse: { toolUseId: 't1', name: 'add', input: { a: 1 } } }],
    ],
    [
      'a result that failed',
      { type: 'tool_result', tool_use_id: 't1', content: 'no', is_error: true },
      [{ toolResult: { toolUseId: 't1', content: [{ text: 'no' }], status: 'error' } }],
    ],
    [
      'a result without content',
      { type: 'tool_result', tool_use_id: 't1' },
      [{ toolResult: { toolUseId: 't1', content: [{ json: {} }] } }],
    ],
    [
      'signed thoughts',
      { type: 'thinking', thinking: '', signature: 's' },
      [{ reasoningContent: { reasoningText: { text: '', signature: 's' } } }],
    ],
    ['hidden thoughts', { type: 'redacted_thinking', data: 'AA' }, [{ reasoningContent: { redactedContent: 'AA' } }]],
  ])('has %s as a block of Converse', (_what, block, expected) => {
    expect(contentOf([block])).toEqual(expected);
  });

  it('has turns that alternate, and the instructions of the beginning in one place', () => {
    const messages = [
      { role: 'system', content: 'b' },
      { role: 'user', content: 'c' },
      { role: 'user', content: [{ type: 'text', text: 'd' }] },
      { role: 'assistant', content: 'e' },
      { role: 'system', content: 'f' },
    ];
    expect(requestOf({ system: 'a', messages })).toMatchObject({
      system: [{ text: 'a' }, { text: 'b' }],
      messages: [
        { role: 'user', content: [{ text: 'c' }, { text: 'd' }] },
        { role: 'assistant', content: [{ text: 'e' }] },
        { role: 'user', content: [{ text: 'f' }] },
      ],
    });
  });

  it('has tools, and those of the conversation where it names none', () => {
    const tools = [{ name: 'add', description: '', input_schema: { type: 'object' } }];
    const toolSpec = { name: 'add', inputSchema: { json: { type: 'object' } } };
    expect(requestOf({ tools })['toolConfig']).toEqual({ tools: [{ toolSpec }] });
    expect(requestOf({ tools, tool_choice: { type: 'any' } })['toolConfig']).toMatchObject({ toolChoice: { any: {} } });
    const messages = [{ role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'add', input: {} }] }];
    expect(requestOf({ messages })['toolConfig']).toEqual({ tools: [{ toolSpec }] });
    expect(requestOf({ tools, tool_choice: { type: 'none' } })['toolConfig']).toBeUndefined();
    // Converse refuses former calls without definitions, and has no such choice.
    const after = { tools, messages, tool_choice: { type: 'none' } };
    expect(requestOf(after)['toolConfig']).toEqual({ tools: [{ toolSpec }] });
    expect(leftOutOf(after)).toContain('tool_choice');
  });

  it('marks what is to be cached for models that know marks, and for no other', () => {
    const block = { type: 'text', text: 'a', ...MARK };
    expect(contentOf([block], CLAUDE)).toEqual([{ text: 'a' }, { cachePoint: { type: 'default' } }]);
    expect(contentOf([block])).toEqual([{ text: 'a' }]);
  });

  it('asks Claude to think, and says that other models are not asked', () => {
    const thinking = { type: 'enabled', budget_tokens: 2_000 };
    expect(requestOf({ thinking, top_k: 5 }, CLAUDE)['additionalModelRequestFields']).toEqual({ thinking, top_k: 5 });
    expect(leftOutOf({ thinking, top_k: 5 }, CLAUDE)).toEqual([]);
    expect(requestOf({ thinking })).not.toHaveProperty('additionalModelRequestFields');
    expect(leftOutOf({ thinking, top_k: 5 })).toEqual(['thinking', 'top_k']);
  });

  it('gives Claude the betas that Bedrock knows, and names the others', () => {
    const withBetas = (betas: readonly string[], pricedModel = CLAUDE.pricedModel): readonly unknown[] => {
      const { body, leftOut } = messagesToConverse.translate(
        { ...BASE, output_config: { effort: 'low' } },
        { ...CLAUDE, pricedModel, betas },
      );
      return [body['additionalModelRequestFields'], leftOut];
    };
    const output_config = { effort: 'low' };
    const known = 'interleaved-thinking-2025-05-14';
    expect(withBetas([known, 'claude-code-20250219'])).toEqual([{ output_config, anthropic_beta: [known] }, []]);
    expect(withBetas(['skills-2025-10-02'])).toEqual([{ output_config }, ['anthropic-beta']]);
    expect(withBetas([], 'anthropic.claude-opus-4-5')).toEqual([
      { output_config, anthropic_beta: ['effort-2025-11-24'] },
      [],
    ]);
    expect(withBetas([known], 'amazon.nova-pro-v1:0')).toEqual([undefined, ['output_config.effort']]);
  });

  it('has names that Converse takes, and returns those of the caller', () => {
    const name = 'mcp__documents__'.padEnd(80, 'x');
    const translation = messagesToConverse.translate({ ...BASE, tools: [{ name, input_schema: {} }] }, TARGET);
    const [fitted = ''] = /mcp__documents__x+_[0-9a-f]{8}/.exec(JSON.stringify(translation.body)) ?? [];
    expect(fitted).toHaveLength(64);
    const toolUse = { toolUseId: 't', name: fitted };
    const answer = translation.toAnswer({ output: { message: { content: [{ toolUse }] } } });
    expect(answer['content']).toEqual([{ type: 'tool_use', id: 't', name, input: {} }]);
    const [, begun] = translation.newStream().push({ contentBlockStart: { contentBlockIndex: 0, start: { toolUse } } });
    expect(begun).toMatchObject({ content_block: { name } });
  });

  it('names the sequence that has stopped Claude', () => {
    const translation = messagesToConverse.translate({ ...BASE, stop_sequences: ['END'] }, CLAUDE);
    expect(translation.body['additionalModelResponseFieldPaths']).toEqual(['/stop_sequence']);
    const stopped = { stopReason: 'stop_sequence', additionalModelResponseFields: { stop_sequence: 'END' } };
    expect(translation.toAnswer({ ...stopped, output: { message: { content: [] } } })).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'END',
    });
    const last = [{ messageStop: stopped }, { metadata: {} }].map(line).join('');
    expect(translatedEvents(translation, last).at(-2)).toMatchObject({ delta: { stop_sequence: 'END' } });
  });

  it('names what has no equivalent', () => {
    const thought = { type: 'thinking', thinking: 'hm', signature: '' };
    const messages = [{ role: 'assistant', content: [thought] }];
    const more = { metadata: { user_id: 'u' }, output_config: { effort: 'low' }, service_tier: 'priority', messages };
    expect([...leftOutOf(more)].sort()).toEqual([
      'messages.content.thinking',
      'metadata',
      'output_config.effort',
      'service_tier',
    ]);
  });

  it.each<[object, string]>([
    [{ mcp_servers: [{}] }, 'mcp_servers'],
    [{ tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools.0'],
    [{ tools: [SEARCH] }, 'tools'],
    [{ tools: [SEARCH, { name: 'add' }], tool_choice: { type: 'tool', name: 'web_search' } }, 'tool_choice'],
    [{ messages: [{ role: 'robot', content: 'x' }] }, 'messages.0.role'],
    [{ messages: [{ role: 'user', content: [{ type: 'hologram' }] }] }, 'messages.0.content.0'],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'https://x.test' } }] }] },
      'messages.0.content.0.source',
    ],
  ])('is refused where it would mean something else: %j', (more, param) => {
    expect(refusalOf(() => requestOf(more))).toMatchObject({ code: 'unsupported_parameter', param });
  });
});

describe('an answer', () => {
  const toAnswer = (content: readonly object[], stopReason: string, more: object = {}): JsonObject =>
    messagesToConverse
      .translate({ ...BASE, ...more }, TARGET)
      .toAnswer({ output: { message: { role: 'assistant', content } }, stopReason, usage: USAGE });

  it('is a message with its tool calls and the sum of its usage', () => {
    const call = { toolUse: { toolUseId: 't', name: 'add', input: { a: 1 } } };
    expect(toAnswer([{ text: 'a' }, call], 'tool_use')).toEqual({
      id: 'msg_a1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 't', name: 'add', input: { a: 1 } },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 9,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 4,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 0 },
        output_tokens: 5,
      },
    });
  });

  it('has thoughts where its caller asks for them', () => {
    const thought = { reasoningContent: { reasoningText: { text: 'hm', signature: 's' } } };
    expect(toAnswer([thought], 'end_turn')['content']).toEqual([]);
    const thinking = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
    expect(toAnswer([thought], 'end_turn', thinking)['content']).toEqual([
      { type: 'thinking', thinking: 'hm', signature: 's' },
    ]);
  });

  it.each([
    ['guardrail_intervened', 'refusal'],
    ['max_tokens', 'max_tokens'],
    ['malformed_tool_use', 'end_turn'],
  ])('that stops by %s stops by %s', (reason, expected) => {
    expect(toAnswer([], reason)['stop_reason']).toBe(expected);
  });

  it('is refused without content', () => {
    const translation = messagesToConverse.translate(BASE, TARGET);
    expect(refusalOf(() => translation.toAnswer({ stopReason: 'end_turn' }))).toMatchObject({
      code: 'provider_invalid_response',
    });
  });
});

const STREAM = [
  { messageStart: { role: 'assistant' } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'Hé' } } },
  { contentBlockDelta: { contentBlockIndex: 0, delta: { text: 'llo' } } },
  { contentBlockStop: { contentBlockIndex: 0 } },
  { contentBlockStart: { contentBlockIndex: 1, start: { toolUse: { toolUseId: 't', name: 'add' } } } },
  { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '{"a":' } } } },
  { contentBlockDelta: { contentBlockIndex: 1, delta: { toolUse: { input: '1}' } } } },
  { contentBlockStop: { contentBlockIndex: 1 } },
  { messageStop: { stopReason: 'tool_use' } },
  { metadata: { usage: USAGE } },
];
const TEXT = STREAM.map(line).join('');

describe('a stream', () => {
  const translated = (text: string, more: object = {}): readonly JsonObject[] =>
    translatedEvents(messagesToConverse.translate({ ...BASE, ...more }, TARGET), text);

  it('is that of a message, with blocks that begin and end', () => {
    expect(translated(TEXT).map(({ type, index }) => [type, index])).toEqual([
      ['message_start', undefined],
      ['content_block_start', 0],
      ['content_block_delta', 0],
      ['content_block_delta', 0],
      ['content_block_stop', 0],
      ['content_block_start', 1],
      ['content_block_delta', 1],
      ['content_block_delta', 1],
      ['content_block_stop', 1],
      ['message_delta', undefined],
      ['message_stop', undefined],
    ]);
    expect(translated(TEXT).at(-2)).toMatchObject({
      delta: { stop_reason: 'tool_use' },
      usage: { input_tokens: 9, cache_read_input_tokens: 4, cache_creation_input_tokens: 3, output_tokens: 5 },
    });
  });

  it('is the same however its bytes are cut', () => {
    const whole = translatedBytes(messagesToConverse.translate(BASE, TARGET), [Buffer.from(TEXT)]);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 5 }), (cuts) => {
        expect(translatedBytes(messagesToConverse.translate(BASE, TARGET), cutAt(TEXT, cuts))).toBe(whole);
      }),
    );
  });

  it('has thoughts with their signature where its caller asks for them', () => {
    const thoughts = [{ text: 'hm' }, { signature: 's' }].map((reasoningContent) => ({
      contentBlockDelta: { contentBlockIndex: 0, delta: { reasoningContent } },
    }));
    const text = [...thoughts, ...STREAM.slice(-2)].map(line).join('');
    const deltas = (more: object): unknown => translated(text, more).flatMap(({ delta }) => (delta ? [delta] : []));
    expect(deltas({ thinking: { type: 'enabled' } })).toEqual([
      { type: 'thinking_delta', thinking: 'hm' },
      { type: 'signature_delta', signature: 's' },
      { stop_reason: 'tool_use', stop_sequence: null },
    ]);
    expect(deltas({})).toHaveLength(1);
  });

  it.each([
    ['without its end', STREAM.slice(0, 4)],
    [
      'with an exception',
      [...STREAM.slice(0, 4), { error: { type: 'throttlingException', message: 'x', status: 429 } }],
    ],
    ['with the input of a call that has not begun', [STREAM[5] ?? {}]],
  ])('breaks off %s', (_what, events) => {
    expect(() => translated(events.map(line).join(''))).toThrow('the stream cannot be translated');
  });
});

describe('clients of other APIs', () => {
  it.each([
    ['openai-chat', 'chat-to-converse', { model: 'm', messages: BASE.messages, max_completion_tokens: 7 }],
    ['openai-responses', 'responses-to-converse', { model: 'm', input: 'Hi', max_output_tokens: 7 }],
  ] as const)('reach Converse from %s through messages', (dialect, name, request) => {
    const translator = translatorFor(dialect, (slug) => slug === 'bedrock-converse');
    expect(translator?.name).toBe(name);
    const translation = translator?.translate(request, TARGET);
    expect(translation?.body).toEqual({
      messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
      inferenceConfig: { maxTokens: 7 },
    });
    const events = translation === undefined ? [] : translatedEvents(translation, TEXT);
    expect(JSON.stringify(events)).toContain('llo');
  });

  it('have no cap that they did not ask for: a model might not take it', () => {
    const translator = translatorFor('openai-chat', (slug) => slug === 'bedrock-converse');
    const { body } = translator?.translate({ model: 'm', messages: BASE.messages }, TARGET) ?? {};
    expect(body).toMatchObject({ inferenceConfig: {} });
    expect(JSON.stringify(body)).not.toContain('maxTokens');
  });

  it('prefer the dialects that a provider speaks', () => {
    expect(translatorFor('openai-chat', () => true)?.name).toBe('chat-to-messages');
  });
});
