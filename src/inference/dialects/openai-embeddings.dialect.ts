import { toErrorEvent } from '../../common/errors/error-envelope.js';
import { isObject, type JsonObject, numberOrUndefined } from '../../common/json/read.js';
import { type AnswerForm, AnswerMeter } from './answer-meter.js';
import type { Dialect, InferenceFacts } from './dialect.types.js';
import { openaiHeaders } from './openai-headers.js';
import { type BoundMembers, readOpenaiInput } from './openai-input.js';
import { readModel } from './read-facts.js';

const BOUND_MEMBERS: BoundMembers = { unbounded: new Set(), unseen: new Set() };
const OPTIONS = { hidesUsage: false, hidesReasoning: false };

/** Source: https://platform.openai.com/docs/api-reference/embeddings/create, read 2026-11-26. */
export const openaiEmbeddings: Dialect = {
  slug: 'openai-embeddings',
  endpoint: 'embeddings',
  uses: [{ kind: 'file', name: 'file_id' }],
  members: new Set(['model']),
  readFacts: (members: JsonObject): InferenceFacts => ({ model: readModel(members), isStream: false }),
  estimate: ({ bytes, savedTokens }) => {
    // The window of a model bounds each of many inputs, not their sum.
    const { bound: input } = readOpenaiInput(bytes, BOUND_MEMBERS, undefined, savedTokens);
    return { unit: 'input', counts: { input: input ?? 0 }, unbounded: input === undefined ? 'input' : undefined };
  },
  headersOf: openaiHeaders,
  bodyOf: ({ bytes }) => bytes,
  toErrorEvent,
  newMeter: ({ reportsCost }) => new AnswerMeter(ANSWER, { ...OPTIONS, reportsCost }),
};

const ANSWER: AnswerForm = { outputFields: [], endMarks: [], usageIn };

function usageIn({ usage }: JsonObject): { readonly input: number } | undefined {
  if (!isObject(usage)) return undefined;
  const input = numberOrUndefined(usage['prompt_tokens'] ?? usage['total_tokens']);
  return input === undefined ? undefined : { input };
}
