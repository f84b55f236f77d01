import type { ProviderSlug } from '../../upstream/providers/provider.types.js';

/** Public tokenisers. */
export type Encoding = 'cl100k_base' | 'o200k_base';

/** Providers of OpenAI's own models. Elsewhere, a model of the same name may differ. */
const PROVIDERS: ReadonlySet<ProviderSlug> = new Set(['openai', 'azure-openai', 'azure-ai']);

/**
 * Models with a known tokeniser. The tokens of other models are not counted.
 * Source: https://github.com/openai/tiktoken/blob/main/tiktoken/model.py and
 * https://github.com/niieani/gpt-tokenizer/blob/main/src/modelsMap.ts, read 2026-11-28.
 */
const FAMILIES: readonly (readonly [RegExp, Encoding])[] = [
  [/^(?:gpt-4o|gpt-4\.[15]|gpt-5(?:\.[1-6])?|chatgpt-4o|codex-mini|o[134])(?:-|$)/, 'o200k_base'],
  [/^(?:gpt-4|gpt-3\.5-turbo|gpt-35-turbo|text-embedding-3|babbage-002|davinci-002)(?:-|$)/, 'cl100k_base'],
  [/^text-embedding-ada-002$/, 'cl100k_base'],
];
/** The prefix of a fine-tuned model, before its base model. */
const TUNED = 'ft:';

/** The tokeniser of a model; undefined when it is not public or not known. */
export function encodingOf(provider: ProviderSlug, model: string): Encoding | undefined {
  if (!PROVIDERS.has(provider)) return undefined;
  const name = model.toLowerCase();
  const [base = ''] = name.startsWith(TUNED) ? name.slice(TUNED.length).split(':') : [name];
  return FAMILIES.find(([family]) => family.test(base))?.[1];
}
