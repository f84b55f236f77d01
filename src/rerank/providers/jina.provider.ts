// Provider P3, rerank: POST /v1/rerank. Source: https://api.jina.ai/redoc#tag/rerank, read 2026-11-21.
import { readObject, stringOrUndefined } from '../../common/json/read.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { estimateByTokens } from '../billing/estimates.js';
import type { RemoteRerankProvider } from '../rerank.types.js';
import { billedCount, readScores } from './answers.js';
import { documentTexts } from './document-text.js';

export const jinaRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'jina',
  options: new Set(),
  // Jina documents no maximum. The largest of any provider, so that Jina itself is the first to refuse.
  maxDocuments: 10_000,
  estimate: (request) => estimateByTokens(request),
  toUpstream: (request) => ({
    method: 'POST',
    path: '/v1/rerank',
    body: withoutUndefined({
      model: request.model,
      query: request.query,
      documents: documentTexts(request.documents),
      top_n: request.topN,
      return_documents: request.returnDocuments, // always said: the documented default has been true and false
    }),
  }),
  fromUpstream(answer, request) {
    const body = readObject(answer, 'body');
    return {
      scores: readScores(body['results'], {
        path: 'body.results',
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
