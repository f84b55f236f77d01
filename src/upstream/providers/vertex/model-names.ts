import type { ModelName, ModelNames } from '../provider.types.js';

/** A model with its publisher, as Google's addresses have it, or as OpenAI's form of the API has it. */
const PUBLISHED = /^(?:publishers\/)?(?<publisher>[a-z0-9-]+)\/(?:models\/)?(?<name>[^/]+)$/i;
const OF_ANTHROPIC = /^claude-/i;
/** No publisher. */
const AT_REGIONS = 'regions/';
/** Versions that mean the newest one, like no version at all. */
const NO_VERSION = /@(?:default|latest)$/;
const VERSION = /@(?<version>[^@]*)$/;

interface PublishedModel {
  readonly publisher: string;
  readonly name: string;
}

/** Names without a publisher are of Google, but for those of Anthropic. */
export function publishedModel(model: string): PublishedModel {
  const { publisher, name } = PUBLISHED.exec(model)?.groups ?? {};
  if (publisher !== undefined && name !== undefined) return { publisher: publisher.toLowerCase(), name };
  return { publisher: OF_ANTHROPIC.test(model) ? 'anthropic' : 'google', name: model };
}

/** A model has a publisher, which need not be written for Google and Anthropic, and a version behind an `@`. */
export const vertexModelNames: ModelNames = {
  canonical: canonicalName,
  aliases: (name) => {
    const { publisher, name: own } = publishedModel(name);
    return [`${publisher}/${own}`, `publishers/${publisher}/models/${own}`].map((text) => ({
      text,
      markLength: text.length - own.length,
    }));
  },
  priced(name) {
    const own = canonicalName(name);
    const version = VERSION.exec(own)?.groups?.['version'];
    const spellings = version === undefined ? [own] : [own, own.slice(0, -version.length - 1)];
    // A price of the model itself counts where its list has none for regions.
    return spellings.flatMap((text) => {
      const everywhere = text.startsWith(AT_REGIONS) ? [plain(text.slice(AT_REGIONS.length))] : [];
      return [[plain(text)], ...everywhere.map((one) => [one])];
    });
  },
};

/** A model where it is not called at the global endpoint, for prices alone. */
export function atRegions(model: string): string {
  return AT_REGIONS + model;
}

function canonicalName(model: string): string {
  const { publisher, name } = publishedModel(model);
  const plainName = name.replace(NO_VERSION, '');
  return publishedModel(plainName).publisher === publisher ? plainName : `${publisher}/${plainName}`;
}

function plain(text: string): ModelName {
  return { text, markLength: 0 };
}
