import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { allowsEveryModel, allowsModel, coversPattern, exactModels } from './model-patterns.js';

describe('allowsModel', () => {
  it.each([
    ['rerank-v3.5', 'rerank-v3.5', true],
    ['rerank-v3.5', 'Rerank-V3.5', true],
    ['RERANK-v3.5', 'rerank-v3.5', true],
    ['rerank-v3.5', 'rerank-v3.5-pro', false],
    ['rerank-*', 'rerank-v3.5', true],
    ['rerank-*', 'my-rerank-v3.5', false],
    ['*', 'anything', true],
    ['@co/*', 'rerank-v3.5', true],
    ['@co/rerank-*', 'rerank-v3.5', true],
    ['@co/command', 'rerank-v3.5', false],
    ['@other/*', 'rerank-v3.5', false],
    ['@CO/*', 'rerank-v3.5', false],
    ['@co/', 'rerank-v3.5', false],
    ['baai/bge-*', 'BAAI/bge-reranker-v2-m3', true],
  ])('answers for the pattern %s and the model %s at the virtual key co: %s', (pattern, model, expected) => {
    expect(allowsModel([pattern], 'co', [model])).toBe(expected);
    expect(allowsModel(['none', pattern], 'co', ['another', model])).toBe(expected);
  });

  it('allows no name that is longer than the name of any model', () => {
    expect(allowsModel(['*'], 'co', ['x'.repeat(512)])).toBe(true);
    expect(allowsModel(['*'], 'co', ['x'.repeat(513)])).toBe(false);
  });
});

describe('allowsEveryModel', () => {
  it('is true for a star alone', () => {
    expect(allowsEveryModel(['rerank-*', '*'])).toBe(true);
    expect(allowsEveryModel(['rerank-*', '@co/*'])).toBe(false);
  });
});

describe('coversPattern', () => {
  it.each([
    ['rerank-*', 'rerank-*', true],
    ['rerank-*', 'rerank-v3*', true],
    ['rerank-*', 'Rerank-v3.5', true],
    ['rerank-*', '@co/rerank-v3.5', true],
    ['rerank-*', '*', false],
    ['rerank-*', 'rerank*', false],
    ['rerank-v3', 'rerank-v3*', false],
    ['@co/*', '@co/rerank-*', true],
    ['@co/*', 'rerank-*', false],
    ['@co/*', '@other/rerank-*', false],
    ['*', '@co/*', true],
  ])('answers whether %s covers %s: %s', (wide, narrow, expected) => {
    expect(coversPattern(['none', wide], narrow)).toBe(expected);
  });

  it('covers no pattern that allows a model which the list does not allow', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'B'), maxLength: 2 });
    const pattern = fc
      .tuple(fc.constantFrom('', '@co/'), name, fc.constantFrom('', '*'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(pattern, pattern, name, (wide, narrow, model) => {
        if (!coversPattern([wide], narrow) || !allowsModel([narrow], 'co', [model])) return;
        expect(allowsModel([wide], 'co', [model])).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('exactModels', () => {
  it('has the patterns without a star, spelled as they stand there', () => {
    expect(exactModels(['Llama3.2', '@co/Rerank/v3', 'a/b', '@not a slug/m'])).toEqual([
      { slug: undefined, model: 'Llama3.2' },
      { slug: 'co', model: 'Rerank/v3' },
      { slug: undefined, model: 'a/b' },
      { slug: undefined, model: '@not a slug/m' },
    ]);
  });

  it('leaves out patterns with a star, and those without a name', () => {
    expect(exactModels(['*', 'rerank-*', '@co/*', '@co/', ''])).toEqual([]);
  });
});
