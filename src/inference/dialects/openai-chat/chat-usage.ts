import { isObject, type JsonObject, numberOrUndefined } from '../../../common/json/read.js';
import type { Counts } from '../../../usage/units.js';
import { detailsOf, remainder } from '../usage-parts.js';

/**
 * The usage of an answer, or of the last chunk of a stream; undefined when it reports none.
 * Source: https://platform.openai.com/docs/api-reference/chat/object, read 2026-11-26.
 */
export function readChatUsage(usage: unknown): Counts | undefined {
  if (!isObject(usage)) return undefined;
  const prompt = numberOrUndefined(usage['prompt_tokens']);
  const completion = completionIn(usage, prompt);
  if (prompt === undefined && completion === undefined) return undefined;
  const given = detailsOf(usage, 'prompt_tokens_details');
  const written = detailsOf(usage, 'completion_tokens_details');
  const parts = {
    cache_read: cachedIn(usage),
    ...writesIn(given),
    input_audio: numberOrUndefined(given['audio_tokens']),
    output_audio: numberOrUndefined(written['audio_tokens']),
    output_image: numberOrUndefined(written['image_tokens']),
  };
  return {
    input: remainder(prompt, [parts.cache_read, parts.cache_write_5m, parts.cache_write_1h, parts.input_audio]),
    output: remainder(completion, [parts.output_audio, parts.output_image]),
    ...parts,
  };
}

/**
 * Finds the usage in an answer or a chunk. Some streams of Groq report it in `x_groq`, and those of Moonshot in the
 * last choice.
 * Sources: https://console.groq.com/docs/api-reference and https://platform.moonshot.ai/docs/api/chat, read 2026-11-27.
 */
export function usageMemberOf({ usage, x_groq: ofGroq, choices }: JsonObject): unknown {
  if (isObject(usage)) return usage;
  if (isObject(ofGroq) && isObject(ofGroq['usage'])) return ofGroq['usage'];
  const last: unknown = Array.isArray(choices) ? choices.at(-1) : undefined;
  return isObject(last) ? last['usage'] : undefined;
}

/**
 * DeepSeek and Moonshot name cached tokens differently. Source: https://api-docs.deepseek.com/guides/kv_cache, read
 * 2026-11-27.
 */
function cachedIn(usage: JsonObject): number | undefined {
  const { cached_tokens: cached } = detailsOf(usage, 'prompt_tokens_details');
  return numberOrUndefined(cached ?? usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens']);
}

/**
 * LiteLLM uses other names, and reports both lifetimes of Anthropic's caches. Source: its class `Usage`, read
 * 2026-11-28.
 */
function writesIn(given: JsonObject): Pick<Counts, 'cache_write_5m' | 'cache_write_1h'> {
  const written = numberOrUndefined(given['cache_write_tokens'] ?? given['cache_creation_tokens']);
  const long = numberOrUndefined(detailsOf(given, 'cache_creation_token_details')['ephemeral_1h_input_tokens']);
  return { cache_write_5m: remainder(written, [long]), cache_write_1h: long };
}

/** The output tokens. Gemini's compatible API counts reasoning in the total alone, not in the completion. */
function completionIn(usage: JsonObject, prompt: number | undefined): number | undefined {
  const completion = numberOrUndefined(usage['completion_tokens']);
  const total = numberOrUndefined(usage['total_tokens']);
  if (completion === undefined || prompt === undefined || total === undefined) return completion;
  // The server does not know a negative count, so the total does not help.
  if (completion < 0 || prompt < 0) return completion;
  return Math.max(completion, total - prompt);
}
