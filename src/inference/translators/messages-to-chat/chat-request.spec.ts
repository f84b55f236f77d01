import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../common/json/read.js';
import { refusalOf, TARGET } from '../__fixtures__/translating.js';
import { toChatRequest } from './chat-request.js';

const ASK = { role: 'user', content: 'Hi' };
const BASE = { model: 'm', max_tokens: 10, messages: [ASK] };
const BASE_CHAT = { model: 'm', max_tokens: 10, messages: [ASK] };
const TOOL = { name: 'add', description: 'Adds.', input_schema: { type: 'object' } };
const CHAT_TOOL = { type: 'function', function: { name: 'add', description: 'Adds.', parameters: { type: 'object' } } };
const PDF_SOURCE = { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' };
const CLOSED = { type: 'object', additionalProperties: false };
const CALL = { type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 } };
const CHAT_CALL = { id: 'toolu_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } };
const PNG = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };
const CHAT_PNG = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const CACHED = { cache_control: { type: 'ephemeral' } };
const text = (said: string): JsonObject => ({ type: 'text', text: said });
const result = (content: unknown, more = {}): JsonObject => ({
  type: 'tool_result',
  tool_use_id: 'toolu_1',
  content,
  ...more,
});

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
function conversation(...messages: readonly JsonObject[]): JsonObject {
  return { messages };
}
const user = (...content: readonly JsonObject[]): JsonObject => ({ role: 'user', content });
const assistant = (...content: readonly JsonObject[]): JsonObject => ({ role: 'assistant', content });
const tool = (content: string): JsonObject => ({ role: 'tool', tool_call_id: 'toolu_1', content });

const otherResult = (content: string): JsonObject => ({ ...result(content), tool_use_id: 'toolu_2' });
const TWO_CALLS = assistant(CALL, { ...CALL, id: 'toolu_2' });
const CHAT_TWO_CALLS = { role: 'assistant', content: null, tool_calls: [CHAT_CALL, { ...CHAT_CALL, id: 'toolu_2' }] };

/** Each: what the request has besides the base, what the chat has besides its base, and what is left out. */
const FORMS: readonly (readonly [string, JsonObject, JsonObject, (readonly string[])?])[] = [
  ['a text', {}, {}],
  ['a stream', { stream: true }, { stream: true }],
  ['no stream', { stream: false }, { stream: false }],
  ['sampling', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
  ['stop sequences', { stop_sequences: ['a', 'b'] }, { stop: ['a', 'b'] }],
  ['no stop sequences', { stop_sequences: [] }, {}],
  ['top_k', { top_k: 5 }, {}, ['top_k']],
  ['what is null', { top_k: null, tools: null, system: null, temperature: null }, {}],
  ['metadata', { metadata: { user_id: 'u' } }, {}, ['metadata']],
  ['a field that is not known', { new_field: 1 }, {}, ['new_field']],
  ['thinking', { thinking: { type: 'enabled', budget_tokens: 1024 } }, {}, ['thinking']],
  ['thinking that adapts', { thinking: { type: 'adaptive' } }, {}, ['thinking']],
  ['no thinking', { thinking: { type: 'disabled' } }, {}],
  ['an effort', { output_config: { effort: 'high' } }, {}, ['output_config.effort']],
  [
    'a schema of the answer',
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } } },
    ['output_config.format.schema'],
  ],
  [
    'results of tools in several messages',
    conversation(ASK, TWO_CALLS, user(result('1'), text('And')), user(otherResult('2'), text('more'))),
    conversation(
      ASK,
      CHAT_TWO_CALLS,
      tool('1'),
      { ...tool('2'), tool_call_id: 'toolu_2' },
      { role: 'user', content: 'And' },
      { role: 'user', content: 'more' },
    ),
  ],
  [
    'a document without a title',
    conversation(user({ type: 'document', source: { ...PDF_SOURCE }, title: '' })),
    conversation({
      role: 'user',
      content: [
        { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
      ],
    }),
  ],
  ['the tier of the account', { service_tier: 'auto' }, {}],
  ['the standard tier', { service_tier: 'standard_only' }, {}, ['service_tier']],
  ['instructions', { system: 'Be brief.' }, { messages: [{ role: 'system', content: 'Be brief.' }, ASK] }],
  [
    'instructions in blocks, and a cache',
    { system: [text('One.'), { ...text('Two.'), ...CACHED }] },
    { messages: [{ role: 'system', content: 'One.\n\nTwo.' }, ASK] },
    ['cache_control'],
  ],
  [
    'instructions in the conversation',
    { system: 'One.', messages: [ASK, { role: 'system', content: 'Two.' }] },
    { messages: [{ role: 'system', content: 'One.\n\nTwo.' }, ASK] },
  ],
  [
    'instructions after an answer',
    conversation(ASK, assistant(text('Yes.')), { role: 'system', content: 'Now be brief.' }),
    { messages: [ASK, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Now be brief.' }] },
  ],
  ['blocks of text', conversation(user(text('a'), text('b'))), { messages: [{ role: 'user', content: 'a\n\nb' }] }],
  ['an image', conversation(user(PNG, text('?'))), { messages: [{ role: 'user', content: [CHAT_PNG, text('?')] }] }],
  [
    'the address of an image',
    conversation(user({ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } })),
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/a.png' } }] }] },
  ],
  [
    'a document of text',
    conversation(user({ type: 'document', title: 'T', source: { type: 'text', media_type: 'text/plain', data: 'D' } })),
    { messages: [{ role: 'user', content: 'T\n\nD' }] },
  ],
  [
    'a document of blocks',
    conversation(user({ type: 'document', source: { type: 'content', content: [text('D')] } })),
    { messages: [{ role: 'user', content: 'D' }] },
  ],
  [
    'a PDF',
    conversation(user({ type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } })),
    {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
          ],
        },
      ],
    },
  ],
  [
    'a document with citations',
    conversation(
      user({
        type: 'document',
        citations: { enabled: true },
        source: { type: 'text', media_type: 'text/plain', data: 'D' },
      }),
    ),
    { messages: [{ role: 'user', content: 'D' }] },
    ['messages.content.citations'],
  ],
  [
    'a search result',
    conversation(user({ type: 'search_result', title: 'T', source: 'S', content: [text('C')] })),
    { messages: [{ role: 'user', content: 'T\nS\nC' }] },
  ],
  ['a tool', { tools: [TOOL] }, { tools: [CHAT_TOOL] }],
  ['no tools', { tools: [], tool_choice: { type: 'auto' } }, {}],
  [
    'a strict tool with a cache and examples',
    { tools: [{ ...TOOL, input_schema: CLOSED, type: 'custom', strict: true, input_examples: [{}], ...CACHED }] },
    { tools: [{ type: 'function', function: { ...CHAT_TOOL.function, parameters: CLOSED, strict: true } }] },
    ['cache_control', 'tools.input_examples'],
  ],
  ['a free choice', { tools: [TOOL], tool_choice: { type: 'auto' } }, { tools: [CHAT_TOOL], tool_choice: 'auto' }],
  ['any tool', { tools: [TOOL], tool_choice: { type: 'any' } }, { tools: [CHAT_TOOL], tool_choice: 'required' }],
  ['no tool', { tools: [TOOL], tool_choice: { type: 'none' } }, { tools: [CHAT_TOOL], tool_choice: 'none' }],
  [
    'one tool, once',
    { tools: [TOOL], tool_choice: { type: 'tool', name: 'add', disable_parallel_tool_use: true } },
    {
      tools: [CHAT_TOOL],
      tool_choice: { type: 'function', function: { name: 'add' } },
      parallel_tool_calls: false,
    },
  ],
  [
    'a round trip with a tool',
    conversation(ASK, assistant(text('I add.'), CALL), user(result('1'), text('Go on.'))),
    {
      messages: [
        ASK,
        { role: 'assistant', content: 'I add.', tool_calls: [CHAT_CALL] },
        tool('1'),
        { role: 'user', content: 'Go on.' },
      ],
    },
  ],
  [
    'a result behind a text',
    conversation(ASK, assistant(CALL), user(text('Here.'), result([text('1'), text('2')]))),
    {
      messages: [
        ASK,
        { role: 'assistant', content: null, tool_calls: [CHAT_CALL] },
        tool('1\n2'),
        { role: 'user', content: 'Here.' },
      ],
    },
  ],
  [
    'a result without content',
    conversation(ASK, assistant(CALL), user(result(undefined))),
    { messages: [ASK, { role: 'assistant', content: null, tool_calls: [CHAT_CALL] }, tool('')] },
  ],
  [
    'a result that is an error',
    conversation(ASK, assistant(CALL), user(result('no', { is_error: true }))),
    { messages: [ASK, { role: 'assistant', content: null, tool_calls: [CHAT_CALL] }, tool('Error: no')] },
  ],
  [
    'a result with an image',
    conversation(ASK, assistant(CALL), user(result([PNG]))),
    {
      messages: [
        ASK,
        { role: 'assistant', content: null, tool_calls: [CHAT_CALL] },
        tool('The images and files of this result follow in the next message.'),
        { role: 'user', content: [CHAT_PNG] },
      ],
    },
  ],
  [
    'thoughts of an earlier answer',
    conversation(ASK, assistant({ type: 'thinking', thinking: 'Hm.', signature: 's' }, text('Yes.')), ASK),
    { messages: [ASK, { role: 'assistant', content: 'Yes.' }, ASK] },
    ['messages.content.thinking'],
  ],
  [
    'a search of another provider',
    conversation(
      ASK,
      assistant({ type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, text('Yes.')),
      ASK,
    ),
    { messages: [ASK, { role: 'assistant', content: 'Yes.' }, ASK] },
    ['messages.content.server_tool_use'],
  ],
  [
    'an answer that is begun',
    conversation(ASK, { role: 'assistant', content: '{' }),
    { messages: [ASK, { role: 'assistant', content: '{' }] },
    ['messages.prefill'],
  ],
];

/** What has no equivalent, and without which the request would mean something else. */
const REFUSED: readonly (readonly [string, JsonObject, string])[] = [
  ['mcp_servers', { mcp_servers: [{}] }, 'mcp_servers'],
  ['a container', { container: 'c' }, 'container'],
  ['a tool of the provider', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools.0'],
  ['a tool without a schema', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools.0'],
  [
    'a stored image',
    conversation(user({ type: 'image', source: { type: 'file', file_id: 'f' } })),
    'messages.0.content.0.source',
  ],
  [
    'the address of a document',
    conversation(ASK, user({ type: 'document', source: { type: 'url', url: 'https://x.test' } })),
    'messages.1.content.0.source',
  ],
  ['content that is not known', conversation(user({ type: 'hologram' })), 'messages.0.content.0'],
  ['content of an answer that is not known', conversation(assistant({ type: 'hologram' })), 'messages.0.content.0'],
  ['a role that is not known', conversation({ role: 'critic', content: '' }), 'messages.0.role'],
  ['an image in the instructions', { system: [PNG] }, 'system.0'],
];

const MALFORMED: readonly (readonly [string, JsonObject, string])[] = [
  ['no messages', { messages: undefined }, 'messages'],
  ['a message that is a text', { messages: ['Hi'] }, 'messages.0'],
  ['content that is a number', conversation({ role: 'user', content: 1 }), 'messages.0.content'],
  ['a text that is a number', conversation(user({ type: 'text', text: 1 })), 'messages.0.content.0.text'],
  ['a call without an id', conversation(assistant({ type: 'tool_use', name: 'a' })), 'messages.0.content.0.id'],
  ['a result without an id', conversation(user({ type: 'tool_result' })), 'messages.0.content.0.tool_use_id'],
  ['an image without a source', conversation(user({ type: 'image' })), 'messages.0.content.0.source'],
  ['tools that are an object', { tools: {} }, 'tools'],
  ['a tool without a name', { tools: [{ input_schema: {} }] }, 'tools.0.name'],
];

describe('a message as a chat', () => {
  it.each(FORMS)('translates %s', (_what, more, expected, leftOut = []) => {
    const request = toChatRequest({ ...BASE, ...more }, TARGET);
    expect(request).toEqual({ body: { ...BASE_CHAT, ...expected }, leftOut });
  });

  it('names the cap as the provider wants it', () => {
    const { body } = toChatRequest(BASE, { ...TARGET, refusesMaxTokens: true });
    expect(body).toEqual({ model: 'm', max_completion_tokens: 10, messages: [ASK] });
  });

  it.each([
    ['a thought', [{ type: 'thinking', thinking: 'Hm.', signature: '' }, CALL], 'reasoning_content', 'Hm.'],
    ['two thoughts', [...['A', 'B'].map((thinking) => ({ type: 'thinking', thinking })), CALL], 'reasoning', 'AB'],
    ['a space for a thought that is not known', [CALL], 'reasoning_content', ' '],
    ['no thought where the server demands none', [CALL], 'reasoning', undefined],
  ] as const)('sends %s before calls', (_what, content, reasoningField, thought) => {
    const { body } = toChatRequest(
      { ...BASE, ...conversation(ASK, assistant(...content), user(result('3'))) },
      { ...TARGET, reasoningField },
    );
    const [, said] = listOf(body['messages']);
    expect(said).toEqual({ role: 'assistant', content: null, [reasoningField]: thought, tool_calls: [CHAT_CALL] });
  });

  it.each([
    ...REFUSED.map(([what, more, param]) => [what, more, param, 'unsupported_parameter'] as const),
    ...MALFORMED.map(([what, more, param]) => [what, more, param, 'validation_failed'] as const),
  ])('refuses %s, and names the field', (_what, more, param, code) => {
    expect(refusalOf(() => toChatRequest({ ...BASE, ...more }, TARGET))).toEqual({ code, param, status: 400 });
  });
});
