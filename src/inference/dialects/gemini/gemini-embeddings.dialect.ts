import { walkFields } from '../../../common/json/fields.js';
import type { JsonObject } from '../../../common/json/read.js';
import { AnswerMeter } from '../answer-meter.js';
import type { Dialect, InferenceFacts } from '../dialect.types.js';
import { inputBound } from '../input-bound.js';
import { readModel } from '../read-facts.js';
import { GEMINI_ANSWER } from './gemini-answer.js';
import { toGeminiErrorEvent } from './gemini-refusal.js';

/** The depth of a field of one request in the list `requests`. */
const DEPTH_IN_LIST = 3;
const OPTIONS = { hidesUsage: false, hidesReasoning: false };

/** The model is in the path and in the body. Source: https://ai.google.dev/api/embeddings, read 2026-11-28. */
export const geminiEmbeddings: Dialect = {
  slug: 'gemini-embeddings',
  suffix: ':embedContent',
  endpoint: 'embeddings',
  uses: [],
  members: new Set(),
  withModel,
  readFacts: (members: JsonObject): InferenceFacts => ({ model: readModel(members), isStream: false }),
  estimate: ({ bytes }) => {
    let isUnseen = false;
    const isWhole = walkFields(bytes, ({ name }) => (isUnseen ||= UNSEEN.has(name)));
    const facts = { images: 0, imageBytes: 0, hasTools: false, isUnseen: isUnseen || !isWhole };
    const input = inputBound(bytes, facts, 0, undefined);
    return { unit: 'input', counts: { input: input ?? 0 }, unbounded: input === undefined ? 'content' : undefined };
  },
  bodyOf: ({ bytes }) => bytes,
  toErrorEvent: toGeminiErrorEvent,
  newMeter: () => new AnswerMeter(GEMINI_ANSWER, OPTIONS),
};

export const geminiManyEmbeddings: Dialect = { ...geminiEmbeddings, suffix: ':batchEmbedContents' };

/** Data that may have more tokens than bytes. */
const UNSEEN: ReadonlySet<string> = new Set(['inlinedata', 'inline_data', 'filedata', 'file_data']);

/** Replaces the models in the body, since one that differs from the path may be forbidden to the caller. */
function withModel(body: Buffer, model: string): Buffer {
  const parts: Buffer[] = [];
  let copied = 0;
  const name = Buffer.from(JSON.stringify(`models/${model}`));
  walkFields(body, ({ name: field, member, depth, start, end }) => {
    const isModel = field === 'model' && (depth === 1 || (member === 'requests' && depth === DEPTH_IN_LIST));
    if (!isModel) return;
    parts.push(body.subarray(copied, start), name);
    copied = end;
  });
  return parts.length === 0 ? body : Buffer.concat([...parts, body.subarray(copied)]);
}
