// Cohere's rerank contract, version 2, which its own API and Azure AI Foundry share. Source: https://docs.cohere.com/reference/rerank, read 2026-11-21.
import { readObject, stringOrUndefined } from '../../common/json/read.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { isBilledByToken } from '../billing/estimates.js';
import type { RerankOutcome, RerankRequest } from '../rerank.types.js';
import { billedCount, readScores } from './answers.js';
import { documentTexts } from './document-text.js';

/** The fields that both hosts take. Documents are strings in version 2, and there is no `return_documents`. */
export function toCohereBody(request: RerankRequest, model: string) {
  return withoutUndefined({
    model,
    query: request.query,
    documents: documentTexts(request.documents),
    top_n: request.topN,
  });
}

export function fromCohereAnswer(answer: unknown, request: RerankRequest): RerankOutcome {
  const body = readObject(answer, 'body');
  const searchUnits = billedCount(body, 'meta', 'billed_units', 'search_units');
  const tokens = billedCount(body, 'meta', 'billed_units', 'input_tokens');
  // Units that are not billed are reported as 0 or left out.
  const isByToken = tokens !== undefined && (isBilledByToken(request.model) || !searchUnits);
  return {
    scores: readScores(body['results'], {
      path: 'body.results',
      scoreField: 'relevance_score',
      documentCount: request.documents.length,
    }),
    // Not in the answer.
    model: undefined,
    id: stringOrUndefined(body['id']),
    searchUnits: isByToken ? undefined : searchUnits,
    totalTokens: isByToken ? tokens : undefined,
  };
}
