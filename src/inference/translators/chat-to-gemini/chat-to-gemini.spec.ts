import { describe, expect, it } from '@jest/globals';
import { isObject, type JsonObject } from '../../../common/json/read.js';
import { refusalOf, TARGET } from '../__fixtures__/translating.js';
import { chatToGemini } from './chat-to-gemini.js';

const GEMINI = { ...TARGET, provider: 'gemini', pricedModel: 'gemini-3-pro-preview' };
const ASK = { role: 'user', content: 'Hi' };
const TOOL = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
const SIGNATURE = 'c2ln+/8=';
const ANSWER = {
  candidates: [
    {
      content: {
        parts: [
          { functionCall: { name: 'f', args: { x: 1 } }, thoughtSignature: SIGNATURE },
          { functionCall: { name: 'f', args: { x: 2 } } },
        ],
      },
      finishReason: 'STOP',
    },
  ],
};

function bodyOf(more: JsonObject): JsonObject {
  return chatToGemini.translate({ model: 'm', messages: [ASK], ...more }, GEMINI).body;
}

function callsIn(answer: JsonObject): readonly JsonObject[] {
  const { choices } = answer;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(choice) ? choice['message'] : undefined;
  const calls = isObject(message) ? message['tool_calls'] : undefined;
  return Array.isArray(calls) ? calls.filter(isObject) : [];
}

describe('the calls of a chat with Gemini', () => {
  const calls = callsIn(chatToGemini.translate({ model: 'm', messages: [ASK] }, GEMINI).toAnswer(ANSWER));
  const results = calls.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: `r${index}` }));

  it('come back with the signature that Gemini demands, and with their results in order', () => {
    const { contents } = bodyOf({
      messages: [ASK, { role: 'assistant', content: null, tool_calls: calls }, ...results],
    });
    expect(contents).toEqual([
      { role: 'user', parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: [
          { functionCall: { name: 'f', args: { x: 1 } }, thoughtSignature: SIGNATURE },
          { functionCall: { name: 'f', args: { x: 2 } } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'f', response: { output: 'r0' } } },
          { functionResponse: { name: 'f', response: { output: 'r1' } } },
        ],
      },
    ]);
  });

  it('come back with the signature that their client has kept beside them', () => {
    const extra_content = { google: { thought_signature: SIGNATURE } };
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' }, extra_content };
    const { contents } = bodyOf({ messages: [ASK, { role: 'assistant', content: null, tool_calls: [call] }] });
    expect(JSON.stringify(contents)).toContain(`"thoughtSignature":"${SIGNATURE}"`);
  });

  it('are refused where a result belongs to none of them', () => {
    const refused = refusalOf(() => bodyOf({ messages: [ASK, { role: 'tool', tool_call_id: 'c9', content: 'r' }] }));
    expect(refused).toMatchObject({ code: 'validation_failed', param: 'messages.1.tool_call_id' });
  });
});

describe('the choice of a tool of Gemini', () => {
  it.each([
    ['auto', undefined],
    ['none', { functionCallingConfig: { mode: 'NONE' } }],
    ['required', { functionCallingConfig: { mode: 'ANY' } }],
    [
      { type: 'function', function: { name: 'f' } },
      { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['f'] } },
    ],
  ])('follows %j', (tool_choice, toolConfig) => {
    expect(bodyOf({ tools: [TOOL], tool_choice })['toolConfig']).toEqual(toolConfig);
  });

  it.each([
    [{ tool_choice: { type: 'custom', custom: { name: 'f' } }, tools: [TOOL] }, 'tool_choice'],
    [{ tools: [{ type: 'custom', custom: { name: 'f' } }] }, 'tools.0'],
    [{ web_search_options: {} }, 'web_search_options'],
    [{ n: 2 }, 'n'],
    [
      {
        messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] }],
      },
      'messages.0.content.0.image_url',
    ],
  ])('refuses %j', (more, param) => {
    expect(refusalOf(() => bodyOf(more))).toMatchObject({ code: 'unsupported_parameter', param });
  });
});
