// Rerank servers that one runs oneself: vLLM, Infinity, Xinference, llama.cpp, LocalAI, and Text Embeddings Inference (TEI).
// Sources: https://docs.vllm.ai/en/stable/models/pooling_models/scoring and https://huggingface.github.io/text-embeddings-inference, read 2026-11-26.
import {
  isObject,
  type JsonObject,
  readArray,
  readObject,
  stringOrUndefined,
  UnexpectedShapeError,
} from '../../common/json/read.js';
import { withoutUndefined } from '../../common/without-undefined.js';
import { RERANK_PATH } from '../../upstream/providers/openai-compatible.provider.js';
import { estimateByTokens } from '../billing/estimates.js';
import {
  FOREIGN_OPTIONS,
  type ForeignOption,
  type RemoteRerankProvider,
  type RerankRequest,
  type RerankScore,
} from '../rerank.types.js';
import { billedCount, readScores } from './answers.js';
import { documentTexts } from './document-text.js';

/** `top_k` is not among them: servers know `top_n`. */
const PASSED: readonly ForeignOption[] = FOREIGN_OPTIONS.filter((option) => option !== 'top_k');

export const openaiCompatibleRerank: RemoteRerankProvider = {
  kind: 'remote',
  slug: 'openai-compatible',
  // Of any such server. The server that does not have one ignores or refuses it.
  options: new Set(['max_tokens_per_doc', ...PASSED]),
  // The largest of any provider, so that the server itself is the first to refuse.
  maxDocuments: 10_000,
  estimate: (request) => estimateByTokens(request),
  toUpstream: (request, options) => ({
    method: 'POST',
    path: RERANK_PATH,
    body: isTei(options) ? toTeiBody(request) : toBody(request),
  }),
  fromUpstream(answer, request) {
    // TEI answers with the list alone.
    const body: JsonObject = Array.isArray(answer) ? {} : readObject(answer, 'body');
    return {
      scores: readAnyScores(answer, body, request.documents.length),
      model: stringOrUndefined(body['model']),
      id: stringOrUndefined(body['id']),
      searchUnits: undefined,
      totalTokens: billedCount(body, 'usage', 'total_tokens') ?? billedCount(body, 'meta', 'tokens', 'input_tokens'),
    };
  },
};

/** Providers of their own that take the same requests. Source of Together: https://docs.together.ai/reference/rerank-1, read 2026-11-27. */
export const SAME_RERANK: readonly RemoteRerankProvider[] = (['vllm', 'together'] as const).map((slug) => ({
  ...openaiCompatibleRerank,
  slug,
}));

function isTei(options: object = {}): boolean {
  return 'rerank_format' in options && options.rerank_format === 'tei';
}

/** Documents are not asked for: the answer takes them from the request. */
function toBody(request: RerankRequest) {
  return withoutUndefined({
    ...passedOptions(request),
    model: request.model,
    query: request.query,
    documents: documentTexts(request.documents),
    top_n: request.topN,
  });
}

/** A server of TEI has one model, and scores all texts. */
function toTeiBody(request: RerankRequest) {
  return withoutUndefined({
    ...passedOptions(request),
    query: request.query,
    texts: documentTexts(request.documents),
  });
}

function passedOptions({ foreign, maxTokensPerDoc }: RerankRequest) {
  const passed = PASSED.map((option) => [option, foreign?.values[option]] as const);
  return { ...Object.fromEntries(passed), max_tokens_per_doc: maxTokensPerDoc };
}

function readAnyScores(answer: unknown, body: JsonObject, documentCount: number): readonly RerankScore[] {
  const [items, path] = Array.isArray(answer) ? [answer, 'body'] : listOf(body);
  const [first] = readArray(items, path);
  // A list without a name that is empty could be the answer to anything.
  if (first === undefined && path === 'body') throw new UnexpectedShapeError('at least one result', path);
  const isShort = isObject(first) && isAbsent(first['relevance_score']) && !isAbsent(first['score']);
  return readScores(items, { path, scoreField: isShort ? 'score' : 'relevance_score', documentCount });
}

function listOf(body: JsonObject): readonly [unknown, string] {
  return isAbsent(body['results']) ? [body['data'], 'body.data'] : [body['results'], 'body.results'];
}

/** Servers in Python write null for what they do not have. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
