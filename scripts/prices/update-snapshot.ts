import type { BundledPrice } from '../../src/usage/prices/price.types.js';
import type { KnownModel } from '../../src/usage/snapshot/model-rows.js';
import { compareProvider, type Difference } from './compare.js';
import { readGenaiPrices } from './genai-prices.js';
import { mergePrices } from './merge.js';
import { readModelsDev } from './models-dev.js';
import { LISTED_PROVIDERS, type ListedProvider } from './providers.js';
import { summaryOf } from './report.js';
import type { SourceProvider } from './source.types.js';

export interface Snapshot {
  readonly prices: readonly BundledPrice[];
  readonly models: readonly KnownModel[];
}

/** Both lists as parsed, with their numbers as text. */
export interface Sources {
  readonly modelsDev: unknown;
  readonly genaiPrices: unknown;
  /** The day of the lists: `2026-09-23`. */
  readonly day: string;
}

export interface Updated {
  readonly snapshot: Snapshot;
  readonly differences: readonly Difference[];
  /** What there is of each provider. */
  readonly lines: readonly string[];
}

/** @throws Error, UnexpectedShapeError for a list that is not what it should be */
export function updateSnapshot(
  known: Snapshot,
  { modelsDev, genaiPrices, day }: Sources,
  providers: readonly ListedProvider[] = LISTED_PROVIDERS,
): Updated {
  if (!/^20\d\d-[01]\d-[0-3]\d$/.test(day)) throw new Error('the date must be like 2026-09-23');
  const compared = providers.map(({ slug, ...ids }) => {
    const one = readModelsDev(modelsDev, ids.modelsDev);
    const found = compareProvider(slug, one, readGenaiPrices(genaiPrices, ids.genaiPrices, day));
    assertStillThere(slug, found.agreed.length, known.prices);
    return { slug, ...found, models: modelsOf(slug, one, day) };
  });
  const agreed = compared.flatMap((found) => found.agreed);
  const models = new Map(
    [...known.models, ...compared.flatMap((found) => found.models)].map((row) => [nameOf(row), row]),
  );
  return {
    snapshot: {
      prices: mergePrices(known.prices, { agreed, day }),
      models: [...models.values()].sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1)),
    },
    differences: compared.flatMap((found) => found.differences),
    lines: compared.map((found) => summaryOf(found.slug, found)),
  };
}

/** A list that has changed its form, or lost a part, would otherwise look like a provider without models. */
function assertStillThere(slug: string, now: number, known: readonly BundledPrice[]): void {
  const before = new Set(known.filter(({ provider }) => provider === slug).map(({ model }) => model)).size;
  if (now * 2 < before) throw new Error(`${slug} has prices of ${now} models, and had ${before}`);
}

function modelsOf(provider: ListedProvider['slug'], { models }: SourceProvider, readOn: string): readonly KnownModel[] {
  return models.flatMap(({ id, facts }) => {
    return facts === undefined ? [] : [{ provider, model: id, facts: { ...facts, source: 'models.dev', readOn } }];
  });
}

function nameOf({ provider, model }: KnownModel): string {
  return `${provider} ${model}`;
}
