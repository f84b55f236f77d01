import { describe, expect, it } from '@jest/globals';
import { readMembers } from '../../../common/json/members.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import type { Dialect } from '../dialect.types.js';
import { bedrockConverse } from './converse.dialect.js';
import { bedrockInvoke } from './invoke.dialect.js';

const DATA = 'A'.repeat(40_000);
const IMAGE = { image: { format: 'png', source: { bytes: DATA } } };
const KNOWN = {
  contextWindow: 200_000,
  maxOutput: 4_000,
  inputModalities: ['text'],
  outputModalities: ['text'],
  source: 'x',
  readOn: '2026-11-28',
} as const;

function estimateOf(dialect: Dialect, body: object, model: string, knownModel?: typeof KNOWN): UsageEstimate {
  const bytes = Buffer.from(JSON.stringify(body));
  const facts = dialect.readFacts({ ...readMembers(bytes, dialect.members), model }, bytes);
  return dialect.estimate({ facts, bytes, knownModel, hidesReasoning: true });
}

const converse = (content: readonly object[], more: object = {}, knownModel?: typeof KNOWN): UsageEstimate =>
  estimateOf(
    bedrockConverse,
    { messages: [{ role: 'user', content }], inferenceConfig: { maxTokens: 10 }, ...more },
    'm',
    knownModel,
  );

describe('the bound of a call of Converse', () => {
  it.each([
    ['a message', IMAGE],
    ['the result of a tool', { toolResult: { toolUseId: 't', content: [IMAGE] } }],
  ])('counts an image in %s by its number, not by its data', (_where, block) => {
    const { input = 0 } = converse([block]).counts;
    expect(input).toBeGreaterThan(10_000);
    expect(input).toBeLessThan(11_000);
  });

  it.each([
    ['the arguments of a tool', { toolUse: { toolUseId: 't', name: 'n', input: { bytes: DATA } } }],
    ['an image within arguments', { toolUse: { toolUseId: 't', name: 'n', input: IMAGE } }],
    ['a field beside the source', { image: { format: 'png', bytes: DATA } }],
  ])('counts %s as text', (_where, block) => {
    expect(converse([block]).counts.input).toBeGreaterThan(DATA.length);
  });

  it.each([
    ['a document', [{ document: { format: 'pdf', name: 'a', source: { bytes: 'AA' } } }], {}, 'messages'],
    [
      'an image in a bucket',
      [{ image: { format: 'png', source: { s3Location: { uri: 's3://a/b' } } } }],
      {},
      'messages',
    ],
    ['variables of a prompt', [], { promptVariables: { a: { text: 'b' } } }, 'promptVariables'],
  ])('is the window of the model with %s, and unknown without one', (_what, content, more, field) => {
    expect(converse(content, more, KNOWN).counts.input).toBe(200_000);
    expect(converse(content, more).unbounded).toBe(field);
  });

  it.each([
    [{ toolConfig: { tools: [{ systemTool: { name: 'x' } }] } }, 'toolConfig'],
    [{ additionalModelRequestFields: { tools: [{ type: 'web_search_20250305' }] } }, 'additionalModelRequestFields'],
    [{ inferenceConfig: {} }, 'inferenceConfig.maxTokens'],
  ])('is unknown for %j', (more, field) => {
    expect(converse([], more).unbounded).toBe(field);
  });

  it('is unknown behind the ARN of a prompt', () => {
    const body = { inferenceConfig: { maxTokens: 10 } };
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:prompt/ABC:1';
    expect(estimateOf(bedrockConverse, body, arn).unbounded).toBe('modelId');
  });

  it('allows for tools that callers run', () => {
    const more = { additionalModelRequestFields: { tools: [{ type: 'computer_20250124' }] } };
    expect(converse([], more).unbounded).toBeUndefined();
  });
});

describe('the bound of a call of InvokeModel', () => {
  it.each([
    ['us.anthropic.claude-sonnet-4-6', { max_tokens: 12, messages: [] }, 12],
    ['arn:aws:bedrock:us-east-1:1:inference-profile/eu.meta.llama3-3-70b-instruct-v1:0', { max_gen_len: 13 }, 13],
    ['amazon.nova-pro-v1:0', { inferenceConfig: { max_new_tokens: 14 } }, 14],
    ['amazon.titan-text-express-v1', { textGenerationConfig: { maxTokenCount: 15 } }, 15],
    ['openai.gpt-oss-120b-1:0', { max_completion_tokens: 16 }, 16],
    ['amazon.titan-embed-text-v2:0', { inputText: 'a' }, 0],
  ])('has the output cap of %s', (model, body, output) => {
    expect(estimateOf(bedrockInvoke, body, model)).toMatchObject({ counts: { output }, unbounded: undefined });
  });

  it.each([
    ['meta.llama3-3-70b-instruct-v1:0', { max_tokens: 1 }, 'max_gen_len'],
    ['arn:aws:bedrock:us-east-1:1:application-inference-profile/abc', { max_tokens: 1 }, 'modelId'],
    ['amazon.nova-canvas-v1:0', { taskType: 'TEXT_IMAGE' }, 'modelId'],
    ['amazon.nova-pro-v1:0', { inferenceConfig: { maxTokens: 1 }, messages: [IMAGE] }, 'body'],
  ])('is unknown for %s with %j', (model, body, field) => {
    expect(estimateOf(bedrockInvoke, body, model).unbounded).toBe(field);
  });

  it('is that of the catalogue where the model does not know the cap', () => {
    const body = { max_tokens: 1 };
    expect(estimateOf(bedrockInvoke, body, 'meta.llama3', KNOWN).counts.output).toBe(4_000);
  });
});

describe('how a call may be served', () => {
  it.each([
    [{}, ['standard']],
    [{ serviceTier: { type: 'flex' } }, ['flex', 'standard']],
    [{ serviceTier: { type: 'reserved' } }, ['standard']],
    [{ performanceConfig: { latency: 'optimized' } }, ['fast', 'standard']],
  ])('is for %j one of %j', (members, modes) => {
    expect(bedrockConverse.modesOf?.(members)).toEqual(modes);
  });

  it('may be any that is not known', () => {
    expect(bedrockConverse.modesOf?.({ serviceTier: { type: 'new' } })?.length).toBeGreaterThan(3);
  });
});
