import { describe, expect, it } from '@jest/globals';
import { readMembers } from '../../../common/json/members.js';
import type { InferenceCall } from '../dialect.types.js';
import { type CompletionsFacts, openaiCompletions } from './completions.dialect.js';

function callOf(text: string): InferenceCall<CompletionsFacts> {
  const bytes = Buffer.from(text);
  const facts = openaiCompletions.readFacts(readMembers(bytes, openaiCompletions.members), bytes);
  return { facts, bytes, knownModel: undefined, hidesReasoning: false };
}

describe('the bound of a completion', () => {
  it.each([
    ['{"model":"m","prompt":"one","max_tokens":10}', 10],
    ['{"model":"m","prompt":["one"],"max_tokens":10}', 10],
    ['{"model":"m","prompt":["one","two, or [3]"],"max_tokens":10}', 20],
    ['{"model":"m","prompt":[ [1,2,3] , [4,5,6] ],"max_tokens":10}', 20],
    ['{"model":"m","prompt":[1,2,3],"max_tokens":10}', 10],
    ['{"model":"m","prompt":[],"max_tokens":10}', 10],
    ['{"model":"m","pr\\u006fmpt":["one","two"],"max_tokens":10}', 20],
    ['{"model":"m","prompt":"one","Prompt":["one","two","three"],"max_tokens":10}', 30],
    ['{"model":"m","x":{"prompt":["one","two"]},"max_tokens":10}', 10],
    ['{"model":"m","prompt":["one","two"],"max_tokens":10,"n":3}', 60],
    ['{"model":"m","prompt":"one","max_tokens":10,"n":2,"best_of":4}', 40],
  ])('of %s is %d tokens of output', (text, output) => {
    expect(openaiCompletions.estimate(callOf(text))).toMatchObject({ counts: { output }, unbounded: undefined });
  });

  it.each(['"x":1', '"max_tokens":0', '"max_tokens":9,"n_predict":-1'])('is not there with %s', (more) => {
    expect(openaiCompletions.estimate(callOf(`{"model":"m","prompt":"one",${more}}`)).unbounded).toBe('max_tokens');
  });
});

it.each([
  ['{"prompt":"one"}', 'model'],
  ['{"model":"m","best_of":0}', 'best_of'],
  ['{"model":"m","max_tokens":-1.5}', 'max_tokens'],
  ['{"model":"m","stream":"yes"}', 'stream'],
])('refuses %s, and names %s', (text, param) => {
  expect(() => callOf(text)).toThrow(expect.objectContaining({ code: 'validation_failed', param }));
});

it('counts the output of a stream that broke off', () => {
  const meter = openaiCompletions.newMeter(callOf('{"model":"m","stream":true}'));
  meter.push(Buffer.from('data: {"choices":[{"index":0,"text":"four"}]}\n\n'));
  expect(meter.usage).toEqual({ counts: { output: 4 }, isComputed: true });
});
