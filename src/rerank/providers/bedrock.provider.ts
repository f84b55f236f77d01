// Provider P5, rerank: POST /rerank. Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_agent-runtime_Rerank.html, read 2026-11-21.
import { invalidField } from '../../common/errors/gateway.error.js';
import { readObject, stringOrUndefined } from '../../common/json/read.js';
import type { ProviderRequest } from '../../upstream/providers/provider.types.js';
import { estimateByChunks } from '../billing/estimates.js';
import type { RemoteRerankProvider, RerankDocument, RerankRequest } from '../rerank.types.js';
import { documentText } from './document-text.js';
import { readScores } from './answers.js';

const MAX_CHARACTERS = 32_000;
/**
 * AWS bills a unit per 100 chunks of at most this many tokens, the query included, and reports no usage. Source:
 * https://aws.amazon.com/bedrock/pricing/, and https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-pricing.html
 */
const CHUNK_TOKENS = 512;
const MODEL_ARN = /^arn:aws(?:-[a-z]+)*:bedrock:(?<region>[a-z0-9-]{1,20}):(?:\d{12})?:[a-z-]+\/[\w.:/-]{1,256}$/;

export const bedrockRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'bedrock',
  options: new Set(),
  maxDocuments: 1_000,
  estimate: (request) => estimateByChunks(request, CHUNK_TOKENS),
  toUpstream: (request) => toRerank(request),
  fromUpstream(answer, request) {
    const body = readObject(answer, 'body');
    return {
      scores: readScores(body['results'], {
        path: 'body.results',
        scoreField: 'relevanceScore',
        documentCount: request.documents.length,
      }),
      model: undefined,
      id: undefined,
      searchUnits: estimateByChunks(request, CHUNK_TOKENS).counts.search_unit,
      totalTokens: undefined,
      isUsageComputed: true,
    };
  },
  nextPage(answer, request) {
    const token = stringOrUndefined(readObject(answer, 'body')['nextToken']);
    return token === undefined || token === '' ? undefined : { token, request: toRerank(request, token) };
  },
};

function toRerank(request: RerankRequest, nextToken?: string): ProviderRequest {
  return {
    method: 'POST',
    path: '/rerank',
    region: regionOf(request.model),
    body: {
      queries: [{ type: 'TEXT', textQuery: { text: checkedText(request.query, 'query') } }],
      sources: request.documents.map(toSource),
      rerankingConfiguration: {
        type: 'BEDROCK_RERANKING_MODEL',
        bedrockRerankingConfiguration: {
          modelConfiguration: { modelArn: request.model },
          // Always sent, since its default is not documented.
          numberOfResults: request.topN ?? request.documents.length,
        },
      },
      ...(nextToken === undefined ? {} : { nextToken }),
    },
  };
}

function toSource(document: RerankDocument, index: number) {
  const param = typeof document === 'string' ? `documents.${index}` : `documents.${index}.text`;
  const text = checkedText(documentText(document, index), param);
  return { type: 'INLINE', inlineDocumentSource: { type: 'TEXT', textDocument: { text } } };
}

/** One text that is too long fails the whole request, and AWS does not report which. */
function checkedText(text: string, param: string): string {
  if (text === '' || (text.length > MAX_CHARACTERS && codePoints(text) > MAX_CHARACTERS)) {
    throw invalidField(param, `must have between 1 and ${MAX_CHARACTERS} characters`);
  }
  return text;
}

/** AWS counts code points, JavaScript counts UTF-16 units. */
function codePoints(text: string): number {
  return text.length - (text.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0);
}

/** The fourth field of the ARN. Requests go to that region; the provider checks it against the virtual key's. */
function regionOf(model: string): string {
  const region = MODEL_ARN.exec(model)?.groups?.['region'];
  if (region === undefined) {
    const example = 'arn:aws:bedrock:us-east-1::foundation-model/cohere.rerank-v3-5:0';
    throw invalidField('model', `must be the ARN of a reranking model, for example ${example}`);
  }
  return region;
}
