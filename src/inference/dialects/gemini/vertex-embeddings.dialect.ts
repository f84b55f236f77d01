import { isObject, type JsonObject, numberOrUndefined } from '../../../common/json/read.js';
import { type AnswerForm, AnswerMeter } from '../answer-meter.js';
import type { Dialect, InferenceFacts } from '../dialect.types.js';
import { inputBound } from '../input-bound.js';
import { readModel } from '../read-facts.js';
import { toGeminiErrorEvent } from './gemini-refusal.js';

const FACTS = { images: 0, imageBytes: 0, hasTools: false, isUnseen: false } as const;
const OPTIONS = { hidesUsage: false, hidesReasoning: false };

/**
 * Text embeddings of Vertex. Requests have texts as their only input.
 * Source: https://cloud.google.com/vertex-ai/generative-ai/docs/embeddings/get-text-embeddings, read 2026-11-28.
 */
export const vertexEmbeddings: Dialect = {
  slug: 'vertex-embeddings',
  endpoint: 'embeddings',
  uses: [],
  members: new Set(),
  readFacts: (members: JsonObject): InferenceFacts => ({ model: readModel(members), isStream: false }),
  estimate: ({ bytes }) => ({ unit: 'input', counts: { input: inputBound(bytes, FACTS, 0, undefined) ?? 0 } }),
  bodyOf: ({ bytes }) => bytes,
  toErrorEvent: toGeminiErrorEvent,
  newMeter: () => new AnswerMeter(ANSWER, OPTIONS),
};

const ANSWER: AnswerForm = { outputFields: [], endMarks: [], usageIn };

/** Sums the token counts of all texts; undefined when one is missing. */
function usageIn({ predictions }: JsonObject): { readonly input: number } | undefined {
  if (!Array.isArray(predictions)) return undefined;
  const figures = predictions.map(tokensOf).filter((figure) => figure !== undefined);
  return figures.length < predictions.length ? undefined : { input: figures.reduce((sum, each) => sum + each, 0) };
}

function tokensOf(prediction: unknown): number | undefined {
  const embeddings = isObject(prediction) ? prediction['embeddings'] : undefined;
  const statistics = isObject(embeddings) ? embeddings['statistics'] : undefined;
  return isObject(statistics) ? numberOrUndefined(statistics['token_count']) : undefined;
}
