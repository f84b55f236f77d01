import { describe, expect, it } from '@jest/globals';
import { readMembers } from '../../../common/json/members.js';
import type { ModelFacts } from '../../../usage/models/model-facts.js';
import type { InferenceCall } from '../dialect.types.js';
import { openaiChat } from './chat.dialect.js';
import type { ChatFacts } from './chat-facts.js';

const KNOWN: ModelFacts = {
  contextWindow: 200_000,
  maxOutput: 16_000,
  inputModalities: ['text'],
  outputModalities: ['text'],
  source: 'https://models.example',
  readOn: '2026-11-26',
};

function callOf(text: string, knownModel?: ModelFacts): InferenceCall<ChatFacts> {
  const bytes = Buffer.from(text);
  const facts = openaiChat.readFacts(readMembers(bytes, openaiChat.members), bytes);
  return { facts, bytes, knownModel, hidesReasoning: false };
}

function bodyOf(text: string): string {
  return openaiChat.bodyOf(callOf(text)).toString();
}

describe('the body for the provider', () => {
  it.each([
    '{"model":"m","messages":[],"temperature":1.50}',
    '{"model":"m","stream":false,"messages":[]}',
    '{"stream":true,"stream_options":{"include_usage":true},"model":"m"}',
  ])('is %s as it came', (text) => expect(bodyOf(text)).toBe(text));

  it.each([
    ['{"model":"m","stream":true}', '{"stream_options":{"include_usage":true},"model":"m","stream":true}'],
    [
      '{"stream":true, "stream_options":{"include_usage":false,"x":1}, "model":"m"}',
      '{"stream":true, "stream_options":{"include_usage":true,"x":1}, "model":"m"}',
    ],
    [
      '{"stream_options":null,"stream":true,"model":"m"}',
      '{"stream_options":{"include_usage":true},"stream":true,"model":"m"}',
    ],
  ])('asks for the usage of the stream %s', (text, expected) => expect(bodyOf(text)).toBe(expected));
});

describe('the bound of a chat', () => {
  it.each([
    ['{"model":"m","max_tokens":10}', 10],
    ['{"model":"m","max_completion_tokens":10,"max_tokens":20}', 20],
    ['{"model":"m","max_completion_tokens":10,"n":3}', 30],
    ['{"model":"m","max_tokens":10,"n_predict":25}', 25],
  ])('of %s is %d tokens of output', (text, output) => {
    expect(openaiChat.estimate(callOf(text))).toMatchObject({ counts: { output }, unbounded: undefined });
  });

  it('is the most that a known model writes, without a cap', () => {
    expect(openaiChat.estimate(callOf('{"model":"m","n":2}', KNOWN))).toMatchObject({ counts: { output: 32_000 } });
  });

  it.each([
    ['{"model":"m"}', 'max_completion_tokens'],
    ['{"model":"m","max_tokens":null}', 'max_completion_tokens'],
    ['{"model":"m","max_tokens":-1}', 'max_completion_tokens'],
    ['{"model":"m","max_tokens":5,"n_predict":-1}', 'max_completion_tokens'],
    ['{"model":"m","max_tokens":0,"max_completion_tokens":9}', 'max_completion_tokens'],
    ['{"model":"m","max_tokens":1,"web_search_options":{}}', 'web_search_options'],
    ['{"model":"m","max_tokens":1,"messages":[{"content":[{"file":{"file_id":"f"}}]}]}', 'messages'],
  ])('is not there for %s: %s', (text, field) => {
    expect(openaiChat.estimate(callOf(text)).unbounded).toBe(field);
  });
});

it.each([
  ['{}', 'model'],
  ['{"model":7}', 'model'],
  ['{"model":""}', 'model'],
  ['{"model":"m","stream":"true"}', 'stream'],
  ['{"model":"m","n_predict":[]}', 'n_predict'],
  ['{"model":"m","max_tokens":"9"}', 'max_tokens'],
  ['{"model":"m","max_completion_tokens":1.5}', 'max_completion_tokens'],
  ['{"model":"m","n":129}', 'n'],
  ['{"model":"m","stream_options":[]}', 'stream_options'],
])('refuses %s, and names %s', (text, param) => {
  expect(() => callOf(text)).toThrow(expect.objectContaining({ code: 'validation_failed', param }));
});
