import type { JsonObject } from '../../../common/json/read.js';
import type { UsageEstimate } from '../../../gateway/billable-use.js';
import { PRICE_MODES, type PriceMode } from '../../../usage/prices/price.types.js';
import { AnswerMeter } from '../answer-meter.js';
import type { Dialect, InferenceCall, InferenceFacts, RelayedRequest } from '../dialect.types.js';
import { type CapPath, readCapAt, withCapAt } from '../nested-caps.js';
import { outputBound } from '../output-bound.js';
import { readModel, readSwitch } from '../read-facts.js';
import { GEMINI_ANSWER, geminiMode } from './gemini-answer.js';
import { readGeminiInput } from './gemini-input.js';
import { toGeminiErrorEvent } from './gemini-refusal.js';

/** Google reads camel and snake case. */
const CONFIGS = ['generationConfig', 'generation_config'] as const;
const CAPS: readonly CapPath[] = CONFIGS.flatMap((config) => [
  [config, 'maxOutputTokens'] as const,
  [config, 'max_output_tokens'] as const,
]);
const COUNTS: readonly CapPath[] = CONFIGS.flatMap((config) => [
  [config, 'candidateCount'] as const,
  [config, 'candidate_count'] as const,
]);
const TIERS = ['serviceTier', 'service_tier'] as const;

export interface GeminiFacts extends InferenceFacts {
  readonly candidates: number;
}

/**
 * The path names the model and whether the answer is a stream. Source: https://ai.google.dev/api/generate-content, read
 * 2026-11-28.
 */
export const gemini: Dialect<GeminiFacts> = {
  slug: 'gemini',
  endpoint: 'generate_content',
  uses: [],
  members: new Set(TIERS),
  mayUse: ['input_audio', 'output_audio', 'output_image'],
  readFacts: (members: JsonObject, body: Buffer): GeminiFacts => ({
    model: readModel(members),
    isStream: readSwitch(members, 'stream'),
    outputCap: readCapAt(body, CAPS),
    candidates: readCapAt(body, COUNTS) ?? 1,
  }),
  modesOf,
  estimate,
  withOutputCap: (call, cap) => withCapAt(call, CAPS, cap),
  bodyOf: ({ bytes }) => bytes,
  // Without `alt=sse`, the chunks arrive as one JSON list.
  queryOf: (isStream) => (isStream ? { alt: 'sse' } : undefined),
  toErrorEvent: toGeminiErrorEvent,
  newMeter: ({ hidesReasoning }) => new AnswerMeter(GEMINI_ANSWER, { hidesUsage: false, hidesReasoning }),
};

/** Counts the tokens of a request. Free of charge. */
export const geminiTokenCount: RelayedRequest = {
  slug: 'gemini-token-count',
  endpoint: 'generate_content',
  uses: [],
  members: new Set(),
};

function modesOf(members: JsonObject): readonly PriceMode[] {
  const tier = TIERS.map((name) => members[name]).find((value) => (value ?? null) !== null);
  if (tier === undefined) return ['standard'];
  const mode = geminiMode(tier);
  if (mode === undefined) return PRICE_MODES;
  return mode === 'standard' ? [mode] : [mode, 'standard'];
}

function estimate({ facts, bytes, knownModel }: InferenceCall<GeminiFacts>): UsageEstimate {
  const { bound: input, unbounded, kept } = readGeminiInput(bytes, knownModel);
  const output = outputBound(facts.outputCap, facts.candidates, knownModel);
  return {
    unit: 'output',
    counts: { input: input ?? 0, cache_read: 0, output: output ?? 0 },
    unbounded: unbounded ?? unboundedField(),
  };

  function unboundedField(): string | undefined {
    if (input === undefined) return kept ?? 'contents';
    return output === undefined ? 'generationConfig.maxOutputTokens' : undefined;
  }
}
