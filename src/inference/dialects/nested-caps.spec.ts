import { describe, expect, it } from '@jest/globals';
import type { InferenceFacts } from './dialect.types.js';
import { type CapPath, readCapAt, withCapAt } from './nested-caps.js';

const PATHS: readonly CapPath[] = [['inferenceConfig', 'maxTokens'], ['max_tokens']];
const FACTS: InferenceFacts = { model: 'm', isStream: false };

function withCap(text: string): string {
  const call = { facts: FACTS, bytes: Buffer.from(text), knownModel: undefined, hidesReasoning: false };
  const { bytes, facts } = withCapAt(call, PATHS, 7);
  expect(facts.outputCap).toBe(7);
  return bytes.toString();
}

describe('readCapAt', () => {
  it.each([
    ['{"inferenceConfig":{"maxTokens": 100 }}', 100],
    ['{"inferenceConfig":{"x":{"maxTokens":9},"maxTokens":5},"maxTokens":80}', 5],
    ['{"max_tokens":3,"inferenceConfig":{"maxTokens":5}}', 5],
    ['{"inferenceConfig":{"maxTokens":5,"maxTokens":900}}', 900],
    ['{"inferenceConfig":{"MaxTokens":12}}', 12],
    ['{"inferenceConfig":{"maxTokens":null}}', undefined],
    ['{"inferenceConfig":{"maxTokens":0}}', undefined],
    ['{"messages":[{"inferenceConfig":{"maxTokens":5}}]}', undefined],
  ])('finds in %s the cap %s', (text, cap) => {
    expect(readCapAt(Buffer.from(text), PATHS)).toBe(cap);
  });

  it.each(['"9"', '1.5', '-1', '1e9', '{}', '[1]', 'true'])('refuses the cap %s', (value) => {
    const text = `{"inferenceConfig":{"maxTokens":${value}}}`;
    expect(() => readCapAt(Buffer.from(text), PATHS)).toThrow(
      expect.objectContaining({ code: 'validation_failed', param: 'inferenceConfig.maxTokens' }),
    );
  });
});

describe('withCapAt', () => {
  it.each([
    ['{"inferenceConfig":{"maxTokens":100}, "x":1.50}', '{"inferenceConfig":{"maxTokens":7}, "x":1.50}'],
    ['{"max_tokens":9,"inferenceConfig":{"maxTokens":1}}', '{"max_tokens":7,"inferenceConfig":{"maxTokens":7}}'],
    ['{"inferenceConfig":{"topP":1}}', '{"inferenceConfig":{"maxTokens":7,"topP":1}}'],
    ['{"inferenceConfig":{ }}', '{"inferenceConfig":{"maxTokens":7 }}'],
    ['{"messages":[]}', '{"inferenceConfig":{"maxTokens":7},"messages":[]}'],
    ['{}', '{"inferenceConfig":{"maxTokens":7}}'],
  ])('makes of %s the body %s', (text, expected) => {
    expect(withCap(text)).toBe(expected);
  });
});
