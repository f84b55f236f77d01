import { isObject, type JsonObject, numberOrUndefined } from '../../../common/json/read.js';
import type { Counts } from '../../../usage/units.js';
import { detailsOf, remainder } from '../usage-parts.js';

/**
 * The usage of an answer, or of the last chunk of a stream; undefined where it has none.
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
 * Where an answer or a chunk has its usage. Some streams of Groq have it in a member of their own, and those of Moonshot in the
 * last choice. Sources: https://console.groq.com/docs/api-reference and https://platform.moonshot.ai/docs/api/chat, read 2026-11-27.
 */
export function usageMemberOf({ usage, x_groq: ofGroq, choices }: JsonObject): unknown {
  if (isObject(usage)) return usage;
  if (isObject(ofGroq) && isObject(ofGroq['usage'])) return ofGroq['usage'];
  const last: unknown = Array.isArray(choices) ? choices.at(-1) : undefined;
  return isObject(last) ? last['usage'] : undefined;
}

/** DeepSeek and Moonshot have members of their own. Source: https://api-docs.deepseek.com/guides/kv_cache, read 2026-11-27. */
function cachedIn(usage: JsonObject): number | undefined {
  const { cached_tokens: cached } = detailsOf(usage, 'prompt_tokens_details');
  return numberOrUndefined(cached ?? usage['prompt_cache_hit_tokens'] ?? usage['cached_tokens']);
}

/** LiteLLM has names of its own, and the two lifetimes of Anthropic's caches. Source: its class `Usage`, read 2026-11-28. */
function writesIn(given: JsonObject): Pick<Counts, 'cache_write_5m' | 'cache_write_1h'> {
  const written = numberOrUndefined(given['cache_write_tokens'] ?? given['cache_creation_tokens']);
  const long = numberOrUndefined(detailsOf(given, 'cache_creation_token_details')['ephemeral_1h_input_tokens']);
  return { cache_write_5m: remainder(written, [long]), cache_write_1h: long };
}

/** Gemini's compatible API leaves what the model thought out of the completion, and has it in the total alone. */
function completionIn(usage: JsonObject, prompt: number | undefined): number | undefined {
  const completion = numberOrUndefined(usage['completion_tokens']);
  const total = numberOrUndefined(usage['total_tokens']);
  if (completion === undefined || prompt === undefined || total === undefined) return completion;
  // Not known to the server, so the total says nothing about it.
  if (completion < 0 || prompt < 0) return completion;
  return Math.max(completion, total - prompt);
}
