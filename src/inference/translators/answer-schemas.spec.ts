import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../common/json/read.js';
import { TARGET } from './__fixtures__/translating.js';
import { toMessageRequest } from './chat-to-messages/message-request.js';
import { toChatRequest } from './messages-to-chat/chat-request.js';
import { toMessageRequest as ofResponse } from './responses-to-messages/message-request.js';

/** As Pydantic and Zod make it of a class with limits. */
const LIMITED = {
  type: 'object',
  description: 'A person.',
  properties: {
    age: { type: 'integer', minimum: 0, maximum: 150, description: 'In years.' },
    tags: { type: 'array', items: { type: 'string', maxLength: 5 }, minItems: 1, maxItems: 3 },
    born: {
      oneOf: [
        { type: 'string', format: 'date' },
        { type: 'string', format: 'x-age' },
      ],
    },
    minimum: { $ref: '#/$defs/Part' },
  },
  required: ['age'],
  $defs: { Part: { type: 'object', properties: { a: { type: 'number', multipleOf: 2 } } } },
};
const ENFORCEABLE = {
  type: 'object',
  description: 'A person.',
  properties: {
    age: { type: 'integer', description: 'In years. (minimum: 0, maximum: 150)' },
    tags: {
      type: 'array',
      items: { type: 'string', description: 'maxLength: 5' },
      minItems: 1,
      description: 'maxItems: 3',
    },
    born: {
      anyOf: [
        { type: 'string', format: 'date' },
        { type: 'string', description: 'format: "x-age"' },
      ],
    },
    minimum: { $ref: '#/$defs/Part' },
  },
  required: ['age'],
  additionalProperties: false,
  $defs: {
    Part: {
      type: 'object',
      properties: { a: { type: 'number', description: 'multipleOf: 2' } },
      additionalProperties: false,
    },
  },
};
const NAMES = ['minimum', 'maximum', 'maxItems', 'maxLength', 'format', 'multipleOf'];

describe('the schema of an answer for a model of Anthropic', () => {
  it('has its limits in words, where a chat asks for it', () => {
    const json_schema = { name: 'person', schema: LIMITED };
    const request = { model: 'm', messages: [], response_format: { type: 'json_schema', json_schema } };
    const { body, leftOut } = toMessageRequest(request, TARGET);
    expect(body['output_config']).toEqual({ format: { type: 'json_schema', schema: ENFORCEABLE } });
    expect(new Set(leftOut)).toEqual(new Set(NAMES.map((name) => `response_format.json_schema.schema.${name}`)));
  });

  it('has its limits in words, where a response asks for it', () => {
    const format = { type: 'json_schema', name: 'person', schema: LIMITED };
    const { body, leftOut } = ofResponse({ model: 'm', input: 'Hi', text: { format } }, TARGET);
    expect(body['output_config']).toEqual({ format: { type: 'json_schema', schema: ENFORCEABLE } });
    expect(new Set(leftOut)).toEqual(new Set(NAMES.map((name) => `text.format.schema.${name}`)));
  });

  it.each<[string, JsonObject]>([
    ['no properties', { type: 'object' }],
    ['other properties', { type: 'object', properties: {}, additionalProperties: { type: 'string' } }],
    ['nothing that is not enforced', { type: 'object', properties: { a: { enum: [1] } }, additionalProperties: false }],
  ])('stays as it is with %s', (_what, schema) => {
    const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
    const { body, leftOut } = toMessageRequest({ model: 'm', messages: [], response_format }, TARGET);
    expect([body['output_config'], leftOut]).toEqual([{ format: { type: 'json_schema', schema } }, []]);
  });
});

describe('a schema for a chat', () => {
  const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
    type: 'object',
    properties,
    additionalProperties: false,
    ...more,
  });
  const ALL = object({ a: { type: 'string' } }, { required: ['a'] });

  it.each<[string, JsonObject, boolean]>([
    ['every property is demanded', ALL, true],
    ['a property may be missing', object({ a: { type: 'string' } }), false],
    ['other properties may come', { ...ALL, additionalProperties: true }, false],
    ['an object within it may have others', object({ a: { type: 'object' } }, { required: ['a'] }), false],
    ['a list of such objects', object({ a: { type: 'array', items: { type: 'object' } } }, { required: ['a'] }), false],
    ['a named schema of such an object', { ...ALL, $defs: { b: { type: ['object', 'null'] } } }, false],
  ])('is strict only where OpenAI takes it so: %s', (_what, schema, isStrict) => {
    const format = { type: 'json_schema', schema };
    const tools = [{ name: 'f', input_schema: schema, strict: true }];
    const request = { model: 'm', max_tokens: 9, messages: [], output_config: { format }, tools };
    const { body, leftOut } = toChatRequest(request, TARGET);
    const strict = isStrict ? { strict: true } : {};
    expect(body['response_format']).toEqual({
      type: 'json_schema',
      json_schema: { name: 'answer', schema, ...strict },
    });
    expect(body['tools']).toEqual([{ type: 'function', function: { name: 'f', parameters: schema, ...strict } }]);
    expect(leftOut).toEqual(isStrict ? [] : ['tools.strict', 'output_config.format.schema']);
  });
});
