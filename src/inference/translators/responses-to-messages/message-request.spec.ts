import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../common/json/read.js';
import { refusalOf, TARGET } from '../__fixtures__/translating.js';
import { toMessageRequest } from './message-request.js';

const ASK = { role: 'user', content: 'Hi' };
const BASE = { model: 'm', max_output_tokens: 10, input: 'Hi' };
const TOOL = { type: 'function', name: 'add', description: 'Adds.', parameters: { type: 'object' } };
const MESSAGE_TOOL = { name: 'add', description: 'Adds.', input_schema: { type: 'object' } };
const PATCH = { type: 'custom', name: 'patch', description: 'Edits.' };
const TEXT_SCHEMA = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};
const CALL = { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1}' };
const OUTPUT = { type: 'function_call_output', call_id: 'call_1', output: '2' };
const USE = { type: 'tool_use', id: 'call_1', name: 'add', input: { a: 1 } };
const RESULT = { type: 'tool_result', tool_use_id: 'call_1', content: '2' };
const CACHE = { cache_control: { type: 'ephemeral' } };
const said = (role: string, text: string): JsonObject => ({
  type: 'message',
  role,
  content: [{ type: 'input_text', text }],
});
const user = (...content: readonly JsonObject[]): JsonObject => ({ input: [{ role: 'user', content }] });
const blocks = (...content: readonly JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] });

/** Each: what the request has besides the base, what the message has besides its base, and what is left out. */
const FORMS: readonly (readonly [string, JsonObject, JsonObject, (readonly string[])?])[] = [
  ['a text', {}, {}],
  ['a stream', { stream: true, stream_options: { include_obfuscation: false } }, { stream: true }],
  ['sampling', { temperature: 0, top_p: 0.5 }, { temperature: 0, top_p: 0.5 }],
  ['no cap', { max_output_tokens: undefined }, { max_tokens: 32_000 }],
  ['what is null', { max_output_tokens: 10, tools: null, instructions: null, prompt: null, reasoning: null }, {}],
  ['instructions', { instructions: 'Be brief.' }, { system: 'Be brief.' }],
  [
    'instructions of the developer',
    { instructions: 'One.', input: [said('developer', 'Two.'), said('system', 'Three.'), said('user', 'Hi')] },
    { system: 'One.\n\nTwo.\n\nThree.' },
  ],
  [
    'instructions after an answer',
    { input: [said('user', 'Hi'), said('assistant', 'Yes.'), said('developer', 'Be brief.')] },
    { messages: [ASK, { role: 'assistant', content: 'Yes.' }, { role: 'user', content: 'Be brief.' }] },
  ],
  ['messages without a type', { input: [{ role: 'user', content: 'Hi' }] }, {}],
  [
    'messages of one side in a row',
    { input: [said('user', 'a'), said('user', 'b')] },
    blocks({ type: 'text', text: 'a' }, { type: 'text', text: 'b' }),
  ],
  ['a text that is empty', { input: [said('user', ''), said('user', 'Hi')] }, {}],
  [
    'an answer and its refusal',
    {
      input: [
        said('user', 'Hi'),
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [
            { type: 'output_text', text: 'Yes.', annotations: [] },
            { type: 'refusal', refusal: 'No.' },
          ],
        },
      ],
    },
    {
      messages: [
        ASK,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Yes.' },
            { type: 'text', text: 'No.' },
          ],
        },
      ],
    },
  ],
  [
    'an image',
    user({ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }),
    blocks({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }),
  ],
  [
    'the address of an image',
    user({ type: 'input_image', detail: 'low', image_url: 'https://x.test/a.png' }),
    blocks({ type: 'image', source: { type: 'url', url: 'https://x.test/a.png' } }),
    ['input.content.detail'],
  ],
  [
    'a PDF',
    user({ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' }),
    blocks({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' },
      title: 'a.pdf',
    }),
  ],
  [
    'a file of text',
    user({ type: 'input_file', file_data: 'data:text/plain;base64,SGk=' }),
    blocks({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Hi' } }),
  ],
  [
    'the address of a file',
    user({ type: 'input_file', file_url: 'https://x.test/a.pdf' }),
    blocks({ type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' } }),
  ],
  ['a tool', { tools: [TOOL] }, { tools: [MESSAGE_TOOL] }],
  [
    'a strict tool without parameters',
    { tools: [{ type: 'function', name: 'now', parameters: null, strict: true }] },
    { tools: [{ name: 'now', input_schema: { type: 'object', properties: {} } }] },
    ['tools.strict'],
  ],
  [
    'a tool that takes a text',
    { tools: [{ ...PATCH, format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } }] },
    {
      tools: [
        {
          name: 'patch',
          description: 'Edits.\n\nThe input has to match this grammar (lark):\nstart: "a"',
          input_schema: TEXT_SCHEMA,
        },
      ],
    },
  ],
  [
    'tools of a namespace',
    { tools: [{ type: 'namespace', name: 'mcp__math', tools: [TOOL] }] },
    { tools: [{ ...MESSAGE_TOOL, name: 'mcp__math__add' }] },
  ],
  [
    'a search of the provider',
    { tools: [TOOL, { type: 'web_search' }] },
    { tools: [MESSAGE_TOOL] },
    ['tools.web_search'],
  ],
  ['no tools', { tools: [], tool_choice: 'auto', parallel_tool_calls: false }, {}],
  ['a free choice', { tools: [TOOL], tool_choice: 'auto', parallel_tool_calls: true }, { tools: [MESSAGE_TOOL] }],
  ['any tool', { tools: [TOOL], tool_choice: 'required' }, { tools: [MESSAGE_TOOL], tool_choice: { type: 'any' } }],
  ['no tool', { tools: [TOOL], tool_choice: 'none' }, { tools: [MESSAGE_TOOL], tool_choice: { type: 'none' } }],
  [
    'one tool',
    { tools: [TOOL], tool_choice: { type: 'function', name: 'add' } },
    { tools: [MESSAGE_TOOL], tool_choice: { type: 'tool', name: 'add' } },
  ],
  [
    'one call at a time',
    { tools: [TOOL], parallel_tool_calls: false },
    { tools: [MESSAGE_TOOL], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  [
    'a choice among some tools',
    { tools: [TOOL], tool_choice: { type: 'allowed_tools', mode: 'required', tools: [] } },
    { tools: [MESSAGE_TOOL], tool_choice: { type: 'any' } },
    ['tool_choice.allowed_tools'],
  ],
  [
    'a round trip with a tool',
    { input: [said('user', 'Hi'), CALL, OUTPUT] },
    {
      messages: [ASK, { role: 'assistant', content: [USE] }, { role: 'user', content: [RESULT] }],
    },
  ],
  [
    'two calls at once, and a message before their results',
    { input: [CALL, { ...CALL, call_id: 'call_2' }, said('user', 'Hm.'), OUTPUT, { ...OUTPUT, call_id: 'call_2' }] },
    {
      messages: [
        { role: 'assistant', content: [USE, { ...USE, id: 'call_2' }] },
        { role: 'user', content: [RESULT, { ...RESULT, tool_use_id: 'call_2' }, { type: 'text', text: 'Hm.' }] },
      ],
    },
  ],
  [
    'a call of a namespace',
    { input: [{ ...CALL, namespace: 'mcp__math' }] },
    { messages: [{ role: 'assistant', content: [{ ...USE, name: 'mcp__math__add' }] }] },
  ],
  [
    'a call with a text, and its result with an image',
    {
      input: [
        { type: 'custom_tool_call', call_id: 'c.1', name: 'patch', input: 'a' },
        {
          type: 'custom_tool_call_output',
          call_id: 'c.1',
          output: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
        },
      ],
    },
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c_1', name: 'patch', input: { input: 'a' } }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'c_1',
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
            },
          ],
        },
      ],
    },
  ],
  [
    'arguments that were cut off',
    { input: [{ ...CALL, arguments: '{"a' }] },
    { messages: [{ role: 'assistant', content: [{ ...USE, input: { arguments: '{"a' } }] }] },
  ],
  [
    'thoughts and searches of an earlier answer',
    { input: [said('user', 'Hi'), { type: 'reasoning', summary: [] }, { type: 'web_search_call' }] },
    {},
    ['input.reasoning', 'input.web_search_call'],
  ],
  [
    'a key of the cache',
    { instructions: 'Be brief.', prompt_cache_key: 'k' },
    { system: [{ type: 'text', text: 'Be brief.', ...CACHE }], ...blocks({ type: 'text', text: 'Hi', ...CACHE }) },
  ],
  ['a user', { user: 'u', safety_identifier: 's' }, { metadata: { user_id: 's' } }],
  ['metadata, which the answer repeats', { metadata: { a: 'b' } }, {}],
  [
    'a schema of the answer',
    { text: { verbosity: 'low', format: { type: 'json_schema', name: 'n', schema: { type: 'object' } } } },
    { output_config: { format: { type: 'json_schema', schema: { type: 'object' } } } },
    ['text.verbosity'],
  ],
  ['JSON without a schema', { text: { format: { type: 'json_object' } } }, {}, ['text.format']],
  ['a text as the format', { text: { format: { type: 'text' } } }, {}],
  ['an effort', { reasoning: { effort: 'high', summary: null } }, {}, ['reasoning']],
  ['no reasoning', { reasoning: { effort: 'none', summary: null }, include: ['reasoning.encrypted_content'] }, {}],
  [
    'what is kept or served in another way',
    { store: true, service_tier: 'flex', truncation: 'auto', include: ['message.output_text.logprobs'] },
    {},
    ['store', 'service_tier', 'truncation', 'include'],
  ],
  ['defaults', { store: false, service_tier: 'auto', truncation: 'disabled', background: false }, {}],
  ['a field that is not known', { client_metadata: {}, new_field: 1 }, {}, ['client_metadata', 'new_field']],
];

const REFUSED: readonly (readonly [string, JsonObject, string])[] = [
  ['an earlier response', { previous_response_id: 'resp_1' }, 'previous_response_id'],
  ['a conversation', { conversation: 'conv_1' }, 'conversation'],
  ['a stored prompt', { prompt: { id: 'p' } }, 'prompt'],
  ['an answer that comes later', { background: true }, 'background'],
  ['a tool of the provider', { tools: [{ type: 'file_search' }] }, 'tools.0'],
  ['a tool of another server', { tools: [TOOL, { type: 'mcp' }] }, 'tools.1'],
  ['two tools of one name', { tools: [TOOL, { ...PATCH, name: 'add' }] }, 'tools.1'],
  ['a choice of a tool of the provider', { tools: [TOOL], tool_choice: { type: 'file_search' } }, 'tool_choice'],
  ['a stored image', user({ type: 'input_image', file_id: 'f' }), 'input.0.content.0'],
  ['a stored file', user({ type: 'input_file', file_id: 'f' }), 'input.0.content.0'],
  [
    'a file that is not a PDF',
    user({ type: 'input_file', file_data: 'data:application/zip;base64,AAAA' }),
    'input.0.content.0.file_data',
  ],
  ['a reference to an item', { input: [{ type: 'item_reference', id: 'i' }] }, 'input.0'],
  ['a summary that is sealed', { input: [{ type: 'compaction', encrypted_content: 'x' }] }, 'input.0'],
  ['content that is not known', user({ type: 'hologram' }), 'input.0.content.0'],
  ['a role that is not known', { input: [{ role: 'critic', content: '' }] }, 'input.0.role'],
];

const MALFORMED: readonly (readonly [string, JsonObject, string])[] = [
  ['no input', { input: undefined }, 'input'],
  ['an item that is a text', { input: ['Hi'] }, 'input.0'],
  ['content that is a number', { input: [{ role: 'user', content: 1 }] }, 'input.0.content'],
  ['a call without an id', { input: [{ type: 'function_call', arguments: '{}', name: 'a' }] }, 'input.0.call_id'],
  ['a call without a name', { input: [{ type: 'function_call', arguments: '{}', call_id: 'a' }] }, 'input.0.name'],
  ['a call without arguments', { input: [{ type: 'function_call', call_id: 'a' }] }, 'input.0.arguments'],
  ['a result without output', { input: [{ type: 'function_call_output', call_id: 'a' }] }, 'input.0.output'],
  ['instructions that are a list', { instructions: [] }, 'instructions'],
  ['tools that are an object', { tools: {} }, 'tools'],
  ['a tool without a name', { tools: [{ type: 'function' }] }, 'tools.0.name'],
];

describe('a response as a message', () => {
  it.each(FORMS)('translates %s', (_what, more, expected, leftOut = []) => {
    const { body, leftOut: left } = toMessageRequest({ ...BASE, ...more }, TARGET);
    expect(body).toEqual({ model: 'm', max_tokens: 10, messages: [ASK], ...expected });
    expect(left).toEqual(leftOut);
  });

  it('takes the most that a known model writes where the request has no cap', () => {
    const { body } = toMessageRequest({ model: 'm', input: 'Hi' }, { ...TARGET, maxOutput: 64_000 });
    expect(body['max_tokens']).toBe(64_000);
  });

  it('shortens the names of tools in long namespaces, and finds each again', () => {
    const namespace = 'mcp__'.padEnd(70, 'x');
    const named = ['one', 'two'].map((name) => ({ ...TOOL, name }));
    const { body, tools } = toMessageRequest(
      { ...BASE, tools: [{ type: 'namespace', name: namespace, tools: named }] },
      TARGET,
    );
    const names = JSON.stringify(body['tools']).match(/mcp__x+_[0-9a-f]{8}/g) ?? [];
    expect(names.map((name) => [name.length, tools.find(name)])).toEqual([
      [64, { name: 'one', namespace, isCustom: false }],
      [64, { name: 'two', namespace, isCustom: false }],
    ]);
  });

  it.each([
    ...REFUSED.map(([what, more, param]) => [what, more, param, 'unsupported_parameter'] as const),
    ...MALFORMED.map(([what, more, param]) => [what, more, param, 'validation_failed'] as const),
  ])('refuses %s, and names the field', (_what, more, param, code) => {
    expect(refusalOf(() => toMessageRequest({ ...BASE, ...more }, TARGET))).toEqual({ code, param, status: 400 });
  });
});
