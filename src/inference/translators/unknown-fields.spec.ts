import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json/read.js';
import type { DialectSlug } from '../../upstream/providers/provider.types.js';
import { TARGET } from './__fixtures__/translating.js';
import { LeftOut } from './request-parts.js';
import { translatorFor } from './translators.js';
import type { TranslatedDialect } from './translator.types.js';

const PNG = 'data:image/png;base64,AAAA';
const PDF = 'data:application/pdf;base64,JVBERg==';
const SCHEMA = { type: 'object', properties: {}, required: [], additionalProperties: false };

/** Each `new_…` is a field that no translator knows. */
const CHAT: JsonObject = {
  messages: [
    { role: 'system', content: [{ type: 'text', text: 'S', new_part: 1 }], new_message: 1 },
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: PNG, new_image: 1 } },
        { type: 'file', file: { filename: 'a.pdf', file_data: PDF, new_file: 1 } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      annotations: [],
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}', new_called: 1 }, new_call: 1 },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'R', new_result: 1 },
  ],
  tools: [{ type: 'function', function: { name: 'f', parameters: {}, new_function: 1 }, new_tool: 1 }],
  tool_choice: { type: 'function', function: { name: 'f', new_chosen: 1 }, new_choice: 1 },
  response_format: { type: 'json_schema', json_schema: { name: 'a', schema: SCHEMA, new_schema: 1 }, new_format: 1 },
  stream_options: { include_usage: true, new_option: 1 },
  new_field: {},
};
const MESSAGES: JsonObject = {
  max_tokens: 20,
  system: [{ type: 'text', text: 'S', new_system: 1 }],
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'U', new_text: 1 },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA', new_source: 1 } },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'D' }, new_document: 1 },
      ],
      new_message: 1,
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'A', citations: null },
        { type: 'tool_use', id: 'c1', name: 'f', input: {}, caller: { type: 'direct' }, new_call: 1 },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'R', new_part: 1 }], new_result: 1 },
      ],
    },
  ],
  tools: [{ name: 'f', input_schema: { type: 'object' }, new_tool: 1 }],
  tool_choice: { type: 'auto', new_choice: 1 },
  output_config: { format: { type: 'json_schema', schema: SCHEMA, new_format: 1 } },
  new_field: {},
};
const RESPONSES: JsonObject = {
  input: [
    { role: 'user', content: [{ type: 'input_text', text: 'U', new_part: 1 }], new_message: 1 },
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'A', annotations: [], logprobs: [] }],
    },
    { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{}', status: 'completed', new_call: 1 },
    { type: 'function_call_output', call_id: 'c1', output: 'R', new_output: 1 },
  ],
  tools: [{ type: 'function', name: 'f', parameters: {}, strict: false, new_tool: 1 }],
  tool_choice: { type: 'function', name: 'f', new_choice: 1 },
  text: { format: { type: 'json_schema', name: 'a', schema: SCHEMA, new_format: 1 }, new_text: 1 },
  stream_options: { include_obfuscation: false, new_option: 1 },
  new_field: {},
};

const PAIRS: readonly (readonly [DialectSlug, TranslatedDialect, JsonObject])[] = [
  ['openai-chat', 'anthropic-messages', CHAT],
  ['openai-chat', 'bedrock-converse', CHAT],
  ['openai-chat', 'gemini', CHAT],
  ['anthropic-messages', 'openai-chat', MESSAGES],
  ['anthropic-messages', 'bedrock-converse', MESSAGES],
  ['openai-responses', 'openai-chat', RESPONSES],
  ['openai-responses', 'anthropic-messages', RESPONSES],
  ['openai-responses', 'bedrock-converse', RESPONSES],
];

describe.each(PAIRS)('a request of %s for a provider that speaks %s', (caller, to, request) => {
  const translator = translatorFor(caller, (dialect) => dialect === to);

  it('names every field that is not known, however deep it stands', () => {
    const { leftOut = [] } = translator?.translate({ model: 'm', ...request }, TARGET) ?? {};
    const unknown = new Set(JSON.stringify(request).match(/new_\w+/g));
    expect(new Set(leftOut.map((field) => field.split('.').at(-1)))).toEqual(unknown);
  });
});

describe('LeftOut', () => {
  it('names what no header can hold by other letters', () => {
    const leftOut = new LeftOut();
    leftOut.add('näme with\nlines');
    leftOut.add('x'.repeat(1_000));
    expect(leftOut.fields).toEqual(['n_me_with_lines', 'x'.repeat(128)]);
  });

  it('says that there are others above twenty', () => {
    const leftOut = new LeftOut();
    leftOut.addOthers(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`f${index}`, 1])), new Set());
    leftOut.add('f3');
    expect(leftOut.fields).toHaveLength(21);
    expect(leftOut.fields.at(-1)).toBe('others');
  });
});
