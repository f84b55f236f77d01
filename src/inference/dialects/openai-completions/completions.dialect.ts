import { toErrorEvent } from '../../../common/errors/error-envelope.js';
import type { JsonObject } from '../../../common/json/read.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import { AnswerMeter } from '../answer-meter.js';
import type { Dialect, InferenceCall, InferenceFacts } from '../dialect.types.js';
import { DONE_MARK } from '../end-marks.js';
import { CHAT_ANSWER } from '../openai-chat/chat-answer.js';
import { openaiHeaders } from '../openai-headers.js';
import { type BoundMembers, readOpenaiInput } from '../openai-input.js';
import { askingForUsage, asksForUsage, readStreamOptions, type StreamForm } from '../openai-stream-usage.js';
import { outputBound, readCap, readCount, withCap } from '../output-bound.js';
import { readModel, readSwitch } from '../read-facts.js';
import { countPrompts } from './count-prompts.js';

/** `n_predict` is llama.cpp's own name. There it takes precedence over the other. */
const CAPS = ['max_tokens', 'n_predict'] as const;
/** OpenAI's own maximum. */
const MAX_CHOICES = 128;
const BOUND_MEMBERS: BoundMembers = { unbounded: new Set(), unseen: new Set() };
/** The second mark is llama.cpp's own. */
const ANSWER = { ...CHAT_ANSWER, outputFields: ['"text":'], endMarks: [DONE_MARK, /"stop": *true/] };

export interface CompletionsFacts extends InferenceFacts, StreamForm {
  readonly outputCap: number | undefined;
  /** Completions that the model writes per prompt, including those that `best_of` discards. */
  readonly choices: number;
}

/** Source: https://platform.openai.com/docs/api-reference/completions/create, read 2026-11-27. */
export const openaiCompletions: Dialect<CompletionsFacts> = {
  slug: 'openai-completions',
  endpoint: 'completions',
  uses: [],
  members: new Set(['model', 'stream', 'stream_options', 'n', 'best_of', ...CAPS]),
  readFacts,
  estimate,
  headersOf: openaiHeaders,
  withOutputCap: (call, cap) => withCap(call, ['max_tokens'], cap),
  bodyOf: ({ facts, bytes }) => askingForUsage(bytes, facts),
  toErrorEvent,
  newMeter: ({ facts, hidesReasoning, reportsCost }) =>
    new AnswerMeter(ANSWER, { hidesUsage: asksForUsage(facts), hidesReasoning, reportsCost }),
};

function readFacts(members: JsonObject): CompletionsFacts {
  const choices = readCount(members, 'n', MAX_CHOICES) ?? 1;
  return {
    model: readModel(members),
    isStream: readSwitch(members, 'stream'),
    streamOptions: readStreamOptions(members),
    outputCap: readCap(members, CAPS),
    choices: Math.max(choices, readCount(members, 'best_of', MAX_CHOICES) ?? 1),
  };
}

function estimate({ facts, bytes, knownModel, savedTokens }: InferenceCall<CompletionsFacts>): UsageEstimate {
  // The window of a model bounds each of many prompts, not their sum.
  const { bound: input } = readOpenaiInput(bytes, BOUND_MEMBERS, undefined, savedTokens);
  const output = outputBound(facts.outputCap, facts.choices * countPrompts(bytes), knownModel);
  return {
    unit: 'output',
    counts: { input: input ?? 0, cache_read: 0, output: output ?? 0 },
    unbounded: input === undefined ? 'prompt' : output === undefined ? 'max_tokens' : undefined,
  };
}
