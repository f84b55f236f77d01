import { describe, expect, it } from '@jest/globals';
import { inputTexts } from './input-texts.js';

const LONG = 'a text with more than sixteen bytes';

function textsIn(json: string): readonly string[] {
  const bytes = Buffer.from(json);
  const spans = inputTexts(bytes);
  return Array.from({ length: spans.length / 2 }, (_, index) =>
    bytes.toString('utf8', (spans[index * 2] ?? 0) + 1, spans[index * 2 + 1]),
  );
}

describe('inputTexts', () => {
  it.each([
    ['a message', { messages: [{ role: 'user', content: LONG }] }],
    ['a part of a message', { messages: [{ content: [{ type: 'text', text: LONG }] }] }],
    ['the second part', { messages: [{ content: [{ image_url: { url: 'x' } }, { text: LONG }] }] }],
    ['the input of a response', { input: LONG }],
    ['an item of the input', { input: [{ type: 'message', content: [{ type: 'input_text', text: LONG }] }] }],
    ['the output of a tool', { input: [{ type: 'function_call_output', output: LONG }] }],
    ['the input of a tool', { input: [{ type: 'custom_tool_call', input: LONG }] }],
    ['instructions', { instructions: LONG }],
    ['a prompt', { prompt: LONG }],
    ['the second prompt of a list', { prompt: ['a', LONG] }],
    ['an input of embeddings', { model: 'm', input: ['a', LONG, 'b'] }],
  ])('finds %s', (_what, body) => {
    expect(textsIn(JSON.stringify(body, null, 2))).toEqual([LONG]);
  });

  it('finds several, and returns each as it is written', () => {
    const json = `{"messages":[{"content":"one \\"quoted\\" text, and \\u0041"},{"content" : "a second text, with 汉字"}],"n":1}`;
    expect(textsIn(json)).toEqual([String.raw`one \"quoted\" text, and \u0041`, 'a second text, with 汉字']);
  });

  it.each([
    ['short texts', { messages: [{ content: 'short' }] }],
    ['arguments of a function, which the provider may write in another way', { messages: [{ arguments: LONG }] }],
    ['tools and their schemas', { tools: [{ function: { text: LONG, content: LONG } }] }],
    ['the schema of an answer', { text: { format: { content: LONG } } }],
    ['encrypted reasoning', { input: [{ encrypted_content: LONG }] }],
    ['images', { input: [{ image_url: LONG }], messages: [{ content: [{ image_url: { url: LONG } }] }] }],
    ['texts after a list', { input: ['a'], metadata: LONG }],
    ['the item after a list in an object', { messages: [{ content: ['a'], name: LONG }] }],
    ['other members', { user: LONG, metadata: { text: LONG } }],
  ])('leaves out %s', (_what, body) => {
    expect(textsIn(JSON.stringify(body))).toEqual([]);
  });

  it('leaves out texts whose name is escaped', () => {
    expect(textsIn(String.raw`{"messages":[{"\u0063ontent":"${LONG}"}]}`)).toEqual([]);
  });
});
