import { describe, expect, it } from '@jest/globals';
import { readMembers } from '../../../common/json/members.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import { readGeminiUsage } from './gemini-answer.js';
import { gemini } from './gemini.dialect.js';

const DATA = 'A'.repeat(40_000);

function estimateOf(body: object): UsageEstimate {
  const bytes = Buffer.from(JSON.stringify({ generationConfig: { maxOutputTokens: 10 }, ...body }));
  const facts = gemini.readFacts({ ...readMembers(bytes, gemini.members), model: 'm' }, bytes);
  return gemini.estimate({ facts, bytes, knownModel: undefined, hidesReasoning: true });
}
const partsOf = (...parts: readonly object[]): object => ({ contents: [{ role: 'user', parts }] });

describe('the bound of a call of Gemini', () => {
  it.each([
    ['inlineData', { inlineData: { mimeType: 'image/png', data: DATA } }],
    ['inline_data', { inline_data: { mime_type: 'image/png', data: DATA } }],
  ])('counts an image under %s by its number, not by its data', (_name, part) => {
    const { input = 0 } = estimateOf(partsOf(part)).counts;
    expect(input).toBeGreaterThan(10_000);
    expect(input).toBeLessThan(11_000);
  });

  it.each([
    ['the arguments of a function', { functionCall: { name: 'f', args: { data: DATA } } }],
    ['a part without a type', { data: DATA }],
  ])('counts %s as text', (_what, part) => {
    expect(estimateOf(partsOf(part)).counts.input).toBeGreaterThan(DATA.length);
  });

  it.each([
    [partsOf({ inlineData: { mimeType: 'audio/wav', data: 'AA' } }), 'contents'],
    [{ cachedContent: 'cachedContents/1' }, 'cachedContent'],
    [{ tools: [{ functionDeclarations: [] }, { codeExecution: {} }] }, 'tools'],
    [{ generationConfig: { maxOutputTokens: null } }, 'generationConfig.maxOutputTokens'],
  ])('is unknown for %j', (body, field) => {
    expect(estimateOf(body).unbounded).toBe(field);
  });

  it('has the output of all candidates, in either case of the fields', () => {
    const generation_config = { max_output_tokens: 30, candidateCount: 2 };
    expect(estimateOf({ generationConfig: undefined, generation_config }).counts.output).toBe(60);
  });

  it('allows for functions of the caller', () => {
    expect(estimateOf({ tools: [{ function_declarations: [{ name: 'f' }] }] }).unbounded).toBeUndefined();
  });
});

describe('the usage of an answer of Gemini', () => {
  it.each([
    [{ promptTokenCount: 5 }, { input: 5, output: undefined }],
    [
      { promptTokenCount: 5, candidatesTokenCount: 0 },
      { input: 5, output: 0 },
    ],
    [
      { promptTokenCount: 9, cachedContentTokenCount: 9 },
      { input: 0, cache_read: 9 },
    ],
    [
      {
        promptTokenCount: 100,
        promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 60 }],
        candidatesTokenCount: 50,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 40 }],
      },
      { input: 40, input_audio: 60, output: 10, output_image: 40 },
    ],
  ])('is for %j %j', (usage, counts) => {
    expect(readGeminiUsage(usage)).toMatchObject(counts);
  });

  it('is unknown without figures', () => {
    expect(readGeminiUsage({})).toBeUndefined();
    expect(readGeminiUsage(undefined)).toBeUndefined();
  });
});
