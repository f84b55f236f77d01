import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { readObject } from '../../common/json/read.js';
import type { RerankRequest } from '../rerank.types.js';
import { bedrockRerank } from './bedrock.provider.js';
import { at, fixture, requestWith } from './__fixtures__/requests.js';

const ARN = 'arn:aws:bedrock:eu-central-1::foundation-model/cohere.rerank-v3-5:0';
const bedrockRequest = (changes: Partial<RerankRequest> = {}): RerankRequest => requestWith({ model: ARN, ...changes });
const paramOf = (work: () => unknown): string | null => {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'validation_failed') return error.param;
    throw error;
  }
  throw new Error('expected a refusal');
};

describe('bedrockRerank', () => {
  it("sends Bedrock's request format to the region of the model", () => {
    const request = bedrockRequest({ documents: ['a', { text: 'b', id: 7 }], topN: 1 });
    expect(bedrockRerank.toUpstream(request)).toEqual({
      method: 'POST',
      path: '/rerank',
      region: 'eu-central-1',
      body: {
        queries: [{ type: 'TEXT', textQuery: { text: request.query } }],
        sources: ['a', 'b'].map((text) => ({
          type: 'INLINE',
          inlineDocumentSource: { type: 'TEXT', textDocument: { text } },
        })),
        rerankingConfiguration: {
          type: 'BEDROCK_RERANKING_MODEL',
          bedrockRerankingConfiguration: { modelConfiguration: { modelArn: ARN }, numberOfResults: 1 },
        },
      },
    });
  });

  it('requests all documents when top_n is absent', () => {
    const { body } = bedrockRerank.toUpstream(bedrockRequest());
    expect(at(body, 'rerankingConfiguration.bedrockRerankingConfiguration.numberOfResults')).toBe(6);
  });

  it.each([
    ['arn:aws-cn:bedrock:cn-north-1::foundation-model/amazon.rerank-v1:0', 'cn-north-1'],
    ['arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/amazon.rerank-v1:0', 'us-gov-west-1'],
    ['arn:aws:bedrock:us-east-1:123456789012:provisioned-model/abcdef', 'us-east-1'],
  ])('reads the region from %s', (model, region) => {
    expect(bedrockRerank.toUpstream(bedrockRequest({ model })).region).toBe(region);
  });

  it.each([
    'cohere.rerank-v3-5:0',
    'arn:aws:bedrock:evil.example.com::foundation-model/x',
    'arn:aws:bedrock:us-east-1@evil::foundation-model/x',
    'arn:aws:bedrock:::foundation-model/x',
    'arn:aws:s3:us-east-1::foundation-model/x',
    'arn:aws:bedrock:us-east-1::foundation-model/x\n',
  ])('refuses the Bedrock model %j', (model) => {
    expect(paramOf(() => bedrockRerank.toUpstream(bedrockRequest({ model })))).toBe('model');
  });

  describe('the limit of 32,000 characters', () => {
    const longest = 'x'.repeat(32_000);
    const refused = (changes: Partial<RerankRequest>) =>
      paramOf(() => bedrockRerank.toUpstream(bedrockRequest(changes)));

    it('counts characters as code points, not as UTF-16 units', () => {
      const documents = [longest, '🙂'.repeat(32_000)];
      expect(() => bedrockRerank.toUpstream(bedrockRequest({ documents, query: longest }))).not.toThrow();
      expect(refused({ documents: ['🙂'.repeat(32_001)] })).toBe('documents.0');
    });

    it('names the field with a text that is too long', () => {
      expect(refused({ documents: ['a', `${longest}x`] })).toBe('documents.1');
      expect(refused({ documents: [{ text: `${longest}x` }] })).toBe('documents.0.text');
      expect(refused({ documents: ['a', ''] })).toBe('documents.1');
      expect(refused({ query: `${longest}x` })).toBe('query');
    });

    it('names the limit of characters in the message', () => {
      expect(() => bedrockRerank.toUpstream(bedrockRequest({ documents: [`${longest}x`] }))).toThrow('32000');
    });
  });

  it.each([
    [1, 1],
    [100, 1],
    [101, 2],
    [1_000, 10],
  ])('counts %i documents as %i search units', (count, units) => {
    const request = bedrockRequest({ documents: Array.from({ length: count }, () => 'a') });
    const answer = { results: [{ index: 0, relevanceScore: 0.5 }] };
    expect(bedrockRerank.fromUpstream(answer, request).searchUnits).toBe(units);
  });

  describe('nextPage', () => {
    const nextPage = (answer: unknown) => bedrockRerank.nextPage?.(answer, bedrockRequest());

    it('repeats the request with the token of the next page', () => {
      const first = bedrockRerank.toUpstream(bedrockRequest());
      const next = nextPage({ results: [], nextToken: 'more' });
      expect(next).toEqual({
        token: 'more',
        request: { ...first, body: { ...readObject(first.body, 'body'), nextToken: 'more' } },
      });
    });

    it.each([fixture('bedrock'), { results: [], nextToken: null }, { results: [], nextToken: '' }])(
      'requests no further page after %j',
      (answer) => {
        expect(nextPage(answer)).toBeUndefined();
      },
    );
  });
});
