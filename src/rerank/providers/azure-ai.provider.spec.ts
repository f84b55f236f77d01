import { describe, expect, it } from '@jest/globals';
import { readObject } from '../../common/json/read.js';
import { azureAiRerank } from './azure-ai.provider.js';
import { at, fixture, requestWith } from './__fixtures__/requests.js';

describe('azureAiRerank', () => {
  it.each([
    ['cohere.Cohere-rerank-v4.0-pro', 'Cohere-rerank-v4.0-pro'],
    ['cohere.cohere.rerank', 'cohere.rerank'],
    ['cohere.cohere.', 'cohere.'],
    ['Cohere.rerank', 'rerank'],
    ['cohere.Cohere.rerank', 'Cohere.rerank'],
    ['my-deployment', 'my-deployment'],
    ['xcohere.rerank', 'xcohere.rerank'],
  ])('sends the model %s as %s', (model, sent) => {
    expect(at(azureAiRerank.toUpstream(requestWith({ model })).body, 'model')).toBe(sent);
  });

  it('refuses a prefix without a model', () => {
    expect(() => azureAiRerank.toUpstream(requestWith({ model: 'cohere.' }))).toThrow(
      expect.objectContaining({ code: 'validation_failed', param: 'model' }),
    );
  });

  it("omits Cohere's own options", () => {
    const { body } = azureAiRerank.toUpstream(requestWith({ maxTokensPerDoc: 512, priority: 3 }));
    expect(Object.keys(readObject(body, 'body')).sort()).toEqual(['documents', 'model', 'query']);
  });

  it('reads the search units of Azure', () => {
    expect(azureAiRerank.fromUpstream(fixture('azure-ai'), requestWith())).toMatchObject({
      searchUnits: 1,
      totalTokens: undefined,
    });
  });
});
