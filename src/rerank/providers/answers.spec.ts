import { describe, expect, it } from '@jest/globals';
import { readScores } from './answers.js';

const read = (items: unknown) => readScores(items, { path: 'body.results', scoreField: 'score', documentCount: 2 });

describe('readScores', () => {
  it('reads indices and scores in the order of the response', () => {
    const items = [
      { index: 1, score: 0.5 },
      { index: 0, score: -1.5, more: true },
    ];
    expect(read(items)).toEqual([
      { index: 1, relevanceScore: 0.5 },
      { index: 0, relevanceScore: -1.5 },
    ]);
    expect(read([])).toEqual([]);
  });

  it.each([
    [{}, 'an array at body.results'],
    [[{ index: 0, score: 1 }, null], 'an object at body.results[1]'],
    [[[0, 1]], 'an object at body.results[0]'],
    [[{ score: 1 }], 'a number at body.results[0].index'],
    [[{ index: '0', score: 1 }], 'a number at body.results[0].index'],
    [[{ index: 0.5, score: 1 }], 'the index of a document at body.results[0].index'],
    [[{ index: -1, score: 1 }], 'the index of a document at body.results[0].index'],
    [[{ index: 2, score: 1 }], 'the index of a document at body.results[0].index'],
    [[0, 0].map((index) => ({ index, score: 1 })), 'each index once at body.results[1].index'],
    [[{ index: 0 }], 'a number at body.results[0].score'],
    [[{ index: 0, score: null }], 'a number at body.results[0].score'],
  ])('reports the expected type for %j', (items, message) => {
    const failure = { name: 'UnexpectedShapeError', message: `expected ${message}` };
    expect(() => read(items)).toThrow(expect.objectContaining(failure));
  });
});
