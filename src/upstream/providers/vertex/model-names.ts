import type { ModelName, ModelNames } from '../provider.types.js';

/** A model with its publisher, as in Google's URLs or in its OpenAI-compatible API. */
const PUBLISHED = /^(?:publishers\/)?(?<publisher>[a-z0-9-]+)\/(?:models\/)?(?<name>[^/]+)$/i;
const OF_ANTHROPIC = /^claude-/i;
/** A prefix that is not a publisher's. */
const AT_REGIONS = 'regions/';
/** Versions that mean the newest one, like a missing version. */
const NO_VERSION = /@(?:default|latest)$/;
const VERSION = /@(?<version>[^@]*)$/;

interface PublishedModel {
  readonly publisher: string;
  readonly name: string;
}

/** Names without a publisher belong to Google, unless they begin with `claude-`. */
export function publishedModel(model: string): PublishedModel {
  const { publisher, name } = PUBLISHED.exec(model)?.groups ?? {};
  if (publisher !== undefined && name !== undefined) return { publisher: publisher.toLowerCase(), name };
  return { publisher: OF_ANTHROPIC.test(model) ? 'anthropic' : 'google', name: model };
}

/** A model has a publisher, which may be omitted for Google and Anthropic, and may have a version after an `@`. */
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
    // The price of the model itself applies when there is none for regions.
    return spellings.flatMap((text) => {
      const everywhere = text.startsWith(AT_REGIONS) ? [plain(text.slice(AT_REGIONS.length))] : [];
      return [[plain(text)], ...everywhere.map((one) => [one])];
    });
  },
};

/** The name of a model outside of the global endpoint, for prices only. */
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
