import { describe, expect, it } from '@jest/globals';
import type { ModelFacts } from '../../usage/models/model-facts.js';
import { type BoundMembers, readOpenaiInput } from './openai-input.js';

const SMALL: ModelFacts = {
  contextWindow: 1_000,
  maxOutput: 100,
  inputModalities: ['text'],
  outputModalities: ['text'],
  source: 'https://models.example',
  readOn: '2026-11-26',
};
const DATA = `data:image/png;base64,${'A'.repeat(1_000_000)}`;
const WORDS = `data:image/png;base64,${'word '.repeat(100_000)}`;

const MEMBERS: BoundMembers = { unbounded: new Set(['plugins']), unseen: new Set(['previous_response_id']) };

function boundOfText(json: string, known?: ModelFacts): number | undefined {
  return readOpenaiInput(Buffer.from(json), MEMBERS, known).bound;
}

function unboundedIn(json: string): string | undefined {
  return readOpenaiInput(Buffer.from(json), MEMBERS, undefined).unbounded;
}

function boundOf(body: unknown, known?: ModelFacts): number | undefined {
  return boundOfText(JSON.stringify(body), known);
}

function image(url: string): object {
  return { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] };
}

describe('the bound of an input', () => {
  it('is at least the bytes of the body', () => {
    expect(boundOf({ messages: [{ content: '語'.repeat(100) }] })).toBeGreaterThan(300);
  });

  it('is at most the context window of a known model', () => {
    expect(boundOf({ messages: ['x'.repeat(5_000)] }, SMALL)).toBe(1_000);
    expect(boundOf({ messages: [] }, SMALL)).toBeLessThan(100);
  });

  it.each([
    ['of a chat', JSON.stringify(image(DATA))],
    ['with escaped slashes, as PHP writes them', JSON.stringify(image(DATA)).replaceAll('/', '\\/')],
    ['of a response', JSON.stringify({ input: [{ content: [{ type: 'input_image', image_url: DATA }] }] })],
  ])('counts an image by itself, and not by its bytes: %s', (_form, json) => {
    const bound = boundOfText(json) ?? 0;
    expect(bound).toBeGreaterThanOrEqual(50_000);
    expect(bound).toBeLessThan(51_000);
  });

  it.each([
    '{"messages":[{"image_url":{"url":"https://images.example/1.png"}}]}',
    '{"messages":[{"image\\u005furl":{"\\u0075rl":"https://images.example/1.png"}}]}',
    '{"messages":[{"Image_URL":"https://images.example/1.png"}]}',
    '{"messages":[{ "image_url"\n: "https://images.example/1.png"}]}',
    '{"input":[{"image":"https://images.example/1.png"}]}',
    '{"messages":[{"url":"data:image/png;base64,iVBORw0KGgo="}]}',
  ])('counts an image at another address, however its field is written: %s', (json) => {
    expect(boundOfText(json)).toBeGreaterThanOrEqual(50_000);
  });

  it.each([
    ['in a text', { messages: [{ content: `"url":"${WORDS}` }] }],
    ['as a whole text', { messages: [{ text: WORDS }] }],
    ['under another name', { messages: [{ uri: WORDS }] }],
    ['in the schema of a tool', { tools: [{ function: { parameters: { image_url: { url: WORDS } } } }] }],
  ])('counts the bytes of what only looks like an image, %s', (_where, body) => {
    expect(boundOf(body)).toBeGreaterThan(500_000);
  });

  it.each([
    '"file_id":"f-1"',
    '"file_data":"JVBERi0"',
    '"video_url":{"url":"https://a.example"}',
    '"audio":{"id":"audio_1"}',
    '"file\\u005fid":"f-1"',
    '"\\u0046ILE_ID":"f-1"',
    '"file_id" : "f-1"',
    '"type":"item_reference"',
  ])('is not there for %s at an unknown model, and the window at a known one', (field) => {
    const body = `{"messages":[{"content":[{${field}}]}]}`;
    expect([boundOfText(body), boundOfText(body, SMALL)]).toEqual([undefined, 1_000]);
  });

  it.each([
    ['the sound that a caller asks for', { audio: { voice: 'alloy' }, messages: [] }],
    ['an argument of a tool', { tools: [{ parameters: { properties: { file_id: { type: 'string' } } } }] }],
  ])('is there for %s', (_what, body) => expect(boundOf(body)).toBeLessThan(2_000));

  it.each([
    '{"type":"reasoning","id":"rs_1","summary":[]}',
    '{"type":"reasoning","id":"rs_1","encrypted_content":null}',
    '{"type":"reasoning","id":"rs_1","encrypted_content":""}',
    '{"type":"reasoning","encrypted_content":"gAAAAB","encrypted_content":null}',
    '{"ty\\u0070e":"Reasoning","id":"rs_1"}',
    '{"type":"reasoning","id":"rs_1","summary":[{"encrypted_content":"gAAAAB"}]}',
    '{"type":"reasoning","encrypted_content":"gAAAAB"},{"type":"reasoning","id":"rs_2"}',
    '{"type":"image_generation_call","id":"ig_1"}',
    '{"type":"web_search_call","id":"ws_1"}',
    '{"type":"file_search_call","id":"fs_1","results":null}',
    '{"type":"code_interpreter_call","id":"ci_1"}',
  ])('is not there for an item of which the provider keeps more: %s', (item) => {
    const body = `{"input":[${item}]}`;
    expect([boundOfText(body), boundOfText(body, SMALL)]).toEqual([undefined, 1_000]);
  });

  it.each([
    '{"type":"reasoning","summary":[],"encrypted_content":"gAAAAB"}',
    '{"encrypted_content":"gAAAAB","type":"reasoning"}',
    '{"type":"compaction","encrypted_content":"gAAAAB"}',
    '{"type":"function_call","call_id":"c","arguments":"{}"},{"type":"function_call_output","output":"x"}',
    '{"type":"message","content":"reasoning"}',
  ])('is there for an item that the request has whole: %s', (item) => {
    expect(boundOfText(`{"input":[${item}]}`)).toBeLessThan(300);
  });

  it('is not there for more fields than any honest body has', () => {
    expect(boundOfText(`{"messages":[{${'"a":1,'.repeat(260_000)}"b":1}]}`)).toBeUndefined();
  });

  it.each(['tools', 'functions'])('adds what a model reads about %s', (name) => {
    expect((boundOf({ [name]: [] }) ?? 0) - (boundOf({ ['x'.repeat(name.length)]: [] }) ?? 0)).toBe(1_500);
  });

  it('is not there for an earlier response, which the provider keeps', () => {
    expect(boundOfText('{"previous_response_id":"r-1","input":"x"}')).toBeUndefined();
    expect(boundOfText('{"previous_response_id":null,"input":"x"}')).toBeLessThan(200);
    expect(boundOfText('{"metadata":{"previous_response_id":"r-1"},"input":"x"}')).toBeLessThan(200);
  });
});

describe('work without a bound', () => {
  it.each([
    ['{"plugins":[{"id":"web"}]}', 'plugins'],
    ['{"pl\\u0075gins":{}}', 'plugins'],
    ['{"tools":[{"type":"web_search"}]}', 'tools'],
    ['{"tools":[{"type":"function"},{"ty\\u0070e":"mcp"}]}', 'tools'],
    ['{"Tools":[{"type":"code_interpreter"}]}', 'tools'],
    ['{"tools":[{"type":7}]}', 'tools'],
  ])('is asked for by %s in %s', (json, member) => expect(unboundedIn(json)).toBe(member));

  it.each([
    '{"plugins":null}',
    '{"x":{"plugins":[]}}',
    '{"tools":[{"type":"function","parameters":{"type":"object"}},{"type":"custom"},{"type":"local_shell"}]}',
    '{"tools":[{"type":"namespace","tools":[{"type":"function"}]}]}',
    '{"input":[{"type":"web_search"}]}',
  ])('is not asked for by %s', (json) => expect(unboundedIn(json)).toBeUndefined());
});
