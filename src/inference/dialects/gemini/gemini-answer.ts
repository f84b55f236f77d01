import { isObject, type JsonObject, numberOrUndefined, stringOrUndefined } from '../../../common/json/read.js';
import type { AnswerFacts } from '../../../gateway/billable-use.js';
import type { PriceMode } from '../../../usage/prices/price.types.js';
import type { Counts } from '../../../usage/units.js';
import type { AnswerForm } from '../answer-meter.js';
import { remainder } from '../usage-parts.js';

/** Source: https://ai.google.dev/api/generate-content#UsageMetadata, read 2026-11-28. */
export const GEMINI_ANSWER: AnswerForm = {
  // `name` is the name of a function that the model calls.
  outputFields: ['"text":', '"data":', '"name":', '"code":'],
  // A refused prompt yields a `blockReason` and no candidates.
  endMarks: [/"(?:finishReason|blockReason)" *:/],
  usageFields: ['"usageMetadata"'],
  endField: '"finishReason":',
  usageIn: ({ usageMetadata: usage }, before) => readGeminiUsage(usage) ?? before,
  factsIn,
  modeIn: ({ usageMetadata: usage, serviceTier: tier }) =>
    geminiMode(tier) ?? (isObject(usage) ? geminiMode(usage['serviceTier']) : undefined),
};

/**
 * Each event has cumulative counts. Thinking tokens, and those that tools add to the prompt, are reported separately.
 */
export function readGeminiUsage(usage: unknown): Counts | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = numberOrUndefined(usage['promptTokenCount']);
  const written = sumOf([usage['candidatesTokenCount'], usage['thoughtsTokenCount']]);
  if (prompt === undefined && written === undefined) return undefined;
  const cached = numberOrUndefined(usage['cachedContentTokenCount']);
  const heard = ofModality(usage['promptTokensDetails'], 'AUDIO');
  const fromCache = ofModality(usage['cacheTokensDetails'], 'AUDIO') ?? 0;
  const audio = heard === undefined ? undefined : Math.max(0, heard - fromCache);
  const drawn = ofModality(usage['candidatesTokensDetails'], 'IMAGE');
  const spoken = ofModality(usage['candidatesTokensDetails'], 'AUDIO');
  const input = sumOf([prompt, usage['toolUsePromptTokenCount']]);
  return {
    input: remainder(input, [cached, audio]),
    cache_read: cached,
    input_audio: audio,
    output: remainder(written, [drawn, spoken]),
    output_image: drawn,
    output_audio: spoken,
  };
}

/** The price mode of a tier by Google's name; undefined for an unknown one. */
export function geminiMode(tier: unknown): PriceMode | undefined {
  switch (typeof tier === 'string' ? tier.toLowerCase() : undefined) {
    case 'standard':
    case 'service_tier_standard':
      return 'standard';
    case 'flex':
    case 'service_tier_flex':
      return 'flex';
    case 'priority':
    case 'service_tier_priority':
      return 'priority';
    default:
      return undefined;
  }
}

function sumOf(figures: readonly unknown[]): number | undefined {
  const known = figures.map(numberOrUndefined).filter((figure) => figure !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, figure) => sum + figure, 0);
}

function ofModality(details: unknown, modality: string): number | undefined {
  if (!Array.isArray(details)) return undefined;
  const found = details.find((each) => isObject(each) && each['modality'] === modality);
  return isObject(found) ? numberOrUndefined(found['tokenCount']) : undefined;
}

function factsIn({ responseId, modelVersion, candidates }: JsonObject, before: AnswerFacts): AnswerFacts {
  const first: unknown = Array.isArray(candidates) ? candidates[0] : undefined;
  const reason = isObject(first) ? stringOrUndefined(first['finishReason']) : undefined;
  return {
    id: before.id ?? stringOrUndefined(responseId),
    model: before.model ?? stringOrUndefined(modelVersion),
    finishReason: reason ?? before.finishReason,
  };
}
