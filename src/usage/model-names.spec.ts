import { describe, expect, it } from '@jest/globals';
import { canonicalModel, compilePattern, modelAliases, possibleModels, pricedNames } from './model-names.js';

const ID = 'cohere.rerank-v3-5:0';
const ARN = `arn:aws:bedrock:us-east-1::foundation-model/${ID}`;

describe('canonicalModel', () => {
  it.each([
    ['cohere', 'rerank-v3.5', ['rerank-v3.5', 'Rerank-V3.5', ' rerank-v3.5', 'rerank-v3.5\u00a0', 'rerank-v3.5\n']],
    ['voyage', 'rerank-2.5-lite', ['rerank-2.5-lite', 'RERANK-2.5-LITE', 'rerank-2.5-lite ']],
    ['jina', 'jina-reranker-v3', ['jina-reranker-v3', 'Jina-Reranker-v3', '\tjina-reranker-v3']],
    ['pinecone', 'bge-reranker-v2-m3', ['bge-reranker-v2-m3', 'BGE-reranker-v2-m3']],
    [
      'bedrock',
      ID,
      [
        ARN,
        ID,
        ARN.replace('us-east-1', 'eu-central-1'),
        ARN.replace('::', ':123456789012:'),
        ARN.replace('arn:aws', 'arn:aws-us-gov'),
        ARN.replace('cohere', 'Cohere'),
        `${ARN} `,
      ],
    ],
    [
      'azure-ai',
      'cohere-rerank-v4.0-pro',
      [
        'Cohere-rerank-v4.0-pro',
        'cohere.Cohere-rerank-v4.0-pro',
        'Cohere.Cohere-rerank-v4.0-pro',
        'cohere.cohere.Cohere-rerank-v4.0-pro',
        'cohere.COHERE-RERANK-V4.0-PRO ',
      ],
    ],
    ['local', 'bm25', ['bm25', 'anything', '']],
    [
      'vertex',
      'claude-opus-4-6',
      [
        'Claude-Opus-4-6',
        'anthropic/claude-opus-4-6',
        'publishers/anthropic/models/claude-opus-4-6',
        'ANTHROPIC/claude-opus-4-6@default ',
      ],
    ],
    ['vertex', 'gemini-2.5-flash', ['google/gemini-2.5-flash', 'publishers/google/models/gemini-2.5-flash@latest']],
    ['vertex', 'meta/llama-4', ['meta/llama-4', 'publishers/meta/models/llama-4']],
  ])('folds the model name of %s: %s', (provider, canonical, spellings) => {
    expect(spellings.map((spelling) => canonicalModel(provider, spelling))).toEqual(spellings.map(() => canonical));
  });

  it.each([
    ['cohere', 'rerank-v3.5', 'rerank-v3.0'],
    ['cohere', 'rerank-v3.5', 'cohere.rerank-v3.5'],
    ['cohere', 'rerank-v3.5', 'rerank v3.5'],
    ['bedrock', ARN, ARN.replace(ID, 'amazon.rerank-v1:0')],
    ['bedrock', ARN, 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/cohere.rerank-v3-5:0'],
    ['azure-ai', 'our-reranker', 'our-reranker-2'],
    ['azure-ai', 'cohere', 'cohere.'],
    ['vertex', 'claude-sonnet-4-5', 'claude-sonnet-4-5@20250929'],
    ['vertex', 'google/claude-x', 'claude-x'],
    ['vertex', 'meta/gemini-x', 'gemini-x'],
  ])('%s: keeps %j and %j apart', (provider, one, other) => {
    expect(canonicalModel(provider, one)).not.toBe(canonicalModel(provider, other));
  });

  it('removes any number of prefixes from a model name, and leaves a name', () => {
    const prefixes = 'cohere.'.repeat(500_000);
    expect(canonicalModel('azure-ai', `${prefixes}Our-reranker`)).toBe('our-reranker');
    expect(canonicalModel('azure-ai', prefixes)).toBe('cohere.');
  });

  it('folds a model name without a provider too', () => expect(canonicalModel(undefined, ' Rerank ')).toBe('rerank'));
});

describe('possibleModels', () => {
  it.each([
    [' Rerank-v3.5', [{ model: 'rerank-v3.5' }]],
    [ARN, [{ model: ARN }, { provider: 'bedrock', model: ID }]],
    ['cohere.Our-reranker', [{ model: 'cohere.our-reranker' }, { provider: 'azure-ai', model: 'our-reranker' }]],
  ])('finds the possible models of %s', (name, models) => expect(possibleModels(name)).toEqual(models));
});

describe('modelAliases', () => {
  it.each([
    ['bedrock', ARN.replace('::', ':123456789012:'), [ARN]],
    ['bedrock', 'arn:aws:bedrock:us-east-1:123456789012:inference-profile/x', []],
    ['azure-ai', 'Our-reranker', ['cohere.our-reranker']],
    ['cohere', 'rerank-v3.5', []],
    [undefined, 'rerank-v3.5', []],
  ])('finds the aliases of %s: %s', (provider, model, aliases) =>
    expect(modelAliases(provider, model).map(({ text }) => text)).toEqual(aliases),
  );
});

describe('pricedNames', () => {
  it.each([
    ['bedrock', ARN, [[ARN], [ID]]],
    ['bedrock', ARN.replace('::', ':123456789012:'), [[ARN], [ID]]],
    ['bedrock', ARN.replace('arn:aws', 'arn:aws-cn'), [[ARN.replace('arn:aws', 'arn:aws-cn')]]],
    ['bedrock', ID, [[ID]]],
    ['azure-ai', 'cohere.Our-reranker', [['our-reranker', 'cohere.our-reranker']]],
    ['cohere', ' Rerank-v3.5', [['rerank-v3.5']]],
    ['openai', 'GPT-5.5-2026-04-23', [['gpt-5.5-2026-04-23'], ['gpt-5.5']]],
    ['anthropic', 'claude-sonnet-4-5-20250929', [['claude-sonnet-4-5-20250929'], ['claude-sonnet-4-5']]],
    ['openai', 'gpt-4-0613', [['gpt-4-0613']]],
    ['openai', 'gpt-5.5-2026-0423', [['gpt-5.5-2026-0423']]],
    ['openai', 'gpt-5.5-2026-04-23-tuned', [['gpt-5.5-2026-04-23-tuned']]],
  ])('finds the names with a price for %s: %s', (provider, model, groups) =>
    expect(pricedNames(provider, model).map((names) => names.map(({ text }) => text))).toEqual(groups),
  );
});

describe('compilePattern', () => {
  const [own, alias] = [
    { text: 'our-reranker', markLength: 0 },
    { text: 'cohere.our-reranker', markLength: 'cohere.'.length },
  ];

  it.each([
    ['our-reranker', [true, false]],
    ['our-*', [true, false]],
    ['*', [true, false]],
    ['cohere.our-reranker', [false, true]],
    ['cohere.*', [false, true]],
    ['cohere*', [false, false]],
    ['our-*-x', [false, false]],
  ])('compiles the pattern %s', (pattern, fits) => expect([own, alias].map(compilePattern(pattern))).toEqual(fits));
});
