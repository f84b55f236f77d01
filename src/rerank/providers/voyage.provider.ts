// Provider P2, rerank: POST /v1/rerank. Source: https://docs.voyageai.com/reference/reranker-api, read 2026-11-21.
import { readObject, stringOrUndefined } from '../../common/json/read.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { estimateByTokens, type TokenLimits } from '../billing/estimates.js';
import type { RemoteRerankProvider } from '../rerank.types.js';
import { billedCount, readScores } from './answers.js';
import { documentTexts } from './document-text.js';

/**
 * Longer input is cut, or refused with `truncation: false`. Source: https://docs.voyageai.com/reference/reranker-api
 */
const LIMITS_BY_MODEL: ReadonlyMap<string, TokenLimits> = new Map([
  ['rerank-2.5', { query: 8_000, pair: 32_000, total: 600_000 }],
  ['rerank-2.5-lite', { query: 8_000, pair: 32_000, total: 600_000 }],
  ['rerank-2', { query: 4_000, pair: 16_000, total: 600_000 }],
  ['rerank-2-lite', { query: 2_000, pair: 8_000 }],
]);

export const voyageRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'voyage',
  options: new Set(['truncation']),
  maxDocuments: 1_000,
  estimate: (request) => estimateByTokens(request, LIMITS_BY_MODEL.get(request.model)),
  toUpstream: (request) => ({
    method: 'POST',
    path: '/v1/rerank',
    body: withoutUndefined({
      model: request.model,
      query: request.query,
      documents: documentTexts(request.documents),
      top_k: request.topN, // this provider's name for top_n
      return_documents: request.returnDocuments,
      truncation: request.truncation,
    }),
  }),
  fromUpstream(answer, request) {
    const body = readObject(answer, 'body');
    return {
      scores: readScores(body['data'], {
        path: 'body.data',
        scoreField: 'relevance_score',
        documentCount: request.documents.length,
      }),
      model: stringOrUndefined(body['model']),
      id: undefined,
      searchUnits: undefined,
      totalTokens: billedCount(body, 'usage', 'total_tokens'),
    };
  },
};
