import { describe, expect, it } from '@jest/globals';
import { canonicalModel, modelAliases } from '../usage/model-names.js';
import { compileConditions, type Condition } from './conditions.js';
import { isPolicyKey, type PolicyAttributes } from './policy-keys.js';
import { cpuTimeOf } from '../../test/support/cpu-time.js';

const KEY_ID = '0197fa6e-5f0b-7c2d-9a51-3f3d8a1c4b7e';

const FACTS: PolicyAttributes = {
  api_key: KEY_ID,
  organisation_id: 'org-1',
  workspace_id: 'ws-1',
  virtual_key: 'cohere-eu',
  provider: 'cohere',
  model: 'rerank-v3.5',
  endpoint: 'rerank',
  mcp_server: undefined,
  model_requested: undefined,
  mcp_tool: undefined,
  metadata: { user: 'alice', team: 'search' },
};

function matches(...conditions: Condition[]): boolean {
  return compileConditions(conditions)(FACTS);
}

describe('conditions', () => {
  it.each<[string, Condition, boolean]>([
    ['the value', { key: 'provider', value: 'cohere' }, true],
    ['another value', { key: 'provider', value: 'voyage' }, false],
    ['another case of a provider', { key: 'provider', value: 'Cohere' }, true],
    ['another case of an endpoint', { key: 'endpoint', value: ['Rerank'] }, true],
    ['another case of an id', { key: 'api_key', value: KEY_ID.toUpperCase() }, true],
    ['another case of an excluded id', { key: 'api_key', value: '*', excludes: KEY_ID.toUpperCase() }, false],
    ['another case of a slug', { key: 'virtual_key', value: 'Cohere-EU' }, false],
    ['another case of metadata', { key: 'metadata.user', value: 'Alice' }, false],
    ['one of several', { key: 'provider', value: ['voyage', 'cohere'] }, true],
    ['none of several', { key: 'provider', value: ['voyage', 'jina'] }, false],
    ['any value', { key: 'provider', value: '*' }, true],
    ['any value in a list', { key: 'provider', value: ['voyage', '*'] }, true],
    ['any value of what is missing', { key: 'metadata.project', value: '*' }, true],
    ['a value of what is missing', { key: 'metadata.project', value: 'x' }, false],
    ['metadata', { key: 'metadata.user', value: 'alice' }, true],
    ['an excluded value', { key: 'metadata.user', value: '*', excludes: 'alice' }, false],
    ['a value that is not excluded', { key: 'metadata.user', value: '*', excludes: ['bob', 'carol'] }, true],
    ['a missing value that cannot be excluded', { key: 'metadata.project', value: '*', excludes: 'x' }, true],
    ['the beginning of a model', { key: 'model', value: 'rerank-*' }, true],
    ['the beginning of another model', { key: 'model', value: 'rerank-v4*' }, false],
    ['a star that is not at the end', { key: 'model', value: '*-v3.5' }, false],
    ['all models of the provider', { key: 'model', value: '@cohere/*' }, true],
    ['a model of the virtual key', { key: 'model', value: '@cohere-eu/rerank-v3.5' }, true],
    ['all models of another provider', { key: 'model', value: '@voyage/*' }, false],
    ['an excluded model', { key: 'model', value: '*', excludes: '@cohere/rerank-*' }, false],
    ['a key of another kind of call', { key: 'mcp_server', value: 'files' }, false],
  ])('evaluates a condition with %s', (_what, condition, expected) => expect(matches(condition)).toBe(expected));

  it('matches the ARN of a region with an account too', () => {
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:foundation-model/cohere.rerank-v3-5:0';
    const facts = (model: string): PolicyAttributes => ({
      ...FACTS,
      provider: 'bedrock',
      model: canonicalModel('bedrock', model),
      modelAliases: modelAliases('bedrock', model),
    });
    for (const value of [arn, arn.replace(/cohere.*/, '*'), `@bedrock/${arn}`]) {
      const met = compileConditions([{ key: 'model', value }]);
      const models = [arn, arn.replace('123456789012', ''), arn.replace('us-east-1', 'eu-west-1')];
      expect(models.map((model) => met(facts(model)))).toEqual([true, true, false]);
    }
  });

  it('does not match the prefix of a name with an ARN', () => {
    const id = 'cohere.rerank-v3-5:0';
    const model = `arn:aws:bedrock:us-east-1::foundation-model/${id}`;
    const modelNames = { model: canonicalModel('bedrock', model), modelAliases: modelAliases('bedrock', model) };
    const met = (value: string): boolean =>
      compileConditions([{ key: 'model', value }])({ ...FACTS, ...modelNames, provider: 'bedrock' });
    expect(['a*', 'arn*', '@bedrock/a*', 'amazon.*'].map(met)).toEqual([false, false, false, false]);
    expect(['arn:*', '@bedrock/arn:aws:*', '@bedrock*', 'cohere*', 'c*'].map(met)).toEqual(Array(5).fill(true));
  });

  it('matches a name as long as a body in time, and distinguishes it from shorter ones', async () => {
    const model = 'm'.repeat(4_000_000);
    const facts = { ...FACTS, model, modelAliases: modelAliases('azure-ai', model) };
    const others = compileConditions([{ key: 'model', value: ['x-*', 'm'.repeat(512)] }]);
    const spent = await cpuTimeOf(() => {
      for (let count = 0; count < 500; count += 1) expect(others(facts)).toBe(false);
    });
    expect(spent).toBeLessThan(1_000);
    expect(compileConditions([{ key: 'model', value: '@cohere/cohere.mmm*' }])(facts)).toBe(true);
  });

  describe('on a model', () => {
    const azure: PolicyAttributes = { ...FACTS, provider: 'azure-ai', virtual_key: 'Azure-EU', model: 'our-reranker' };
    const facts = { ...azure, modelAliases: modelAliases('azure-ai', 'our-reranker') };

    it.each([
      ['Our-Reranker', true],
      ['cohere.Our-reranker', true],
      ['cohere.*', true],
      ['@azure-ai/Cohere.our-*', true],
      ['@Azure-EU/Our-Reranker', true],
      ['@azure-eu/Our-Reranker', false],
      ['@Azure-*', true],
      ['@azure-e*', false],
      ['our-reranker-2', false],
      ['cohere.cohere.our-reranker', false],
      // A pattern that covers only a part of the prefix does not match the deployment.
      ['Cohere*', false],
      ['co*', false],
      ['@azure-ai/cohere*', false],
      ['@Azure-EU/c*', false],
      ['@azure-ai/cohere.*', true],
      ['our*', true],
    ])('matches the model pattern %s: %s', (value, expected) => {
      expect(compileConditions([{ key: 'model', value }])(facts)).toBe(expected);
      expect(compileConditions([{ key: 'model', value: '*', excludes: value }])(facts)).toBe(!expected);
    });
  });

  it('requires all conditions to be met', () => {
    expect(matches({ key: 'provider', value: 'cohere' }, { key: 'metadata.team', value: 'search' })).toBe(true);
    expect(matches({ key: 'provider', value: 'cohere' }, { key: 'metadata.team', value: 'ads' })).toBe(false);
  });

  it.each(['__proto__', 'constructor', 'toString'])('does not find metadata.%s when it was not sent', (name) => {
    expect(matches({ key: `metadata.${name}`, value: '[object Object]' })).toBe(false);
  });
});

describe('isPolicyKey', () => {
  it.each(['model', 'metadata.user', `metadata.${'x'.repeat(128)}`, 'metadata.__proto__'])(
    'accepts the policy key %s',
    (key) => expect(isPolicyKey(key)).toBe(true),
  );

  it.each(['', 'metadata', 'metadata.', `metadata.${'x'.repeat(129)}`, 'prompt', 'toString', null, 1])(
    'refuses the policy key %s',
    (key) => expect(isPolicyKey(key)).toBe(false),
  );
});
