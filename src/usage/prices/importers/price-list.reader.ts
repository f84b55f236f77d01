import type { ProviderSlug } from '../../../upstream/providers/provider.types.js';
import { MAX_PRICE, type Price, type PricedUnit } from '../price.types.js';
import type { SoldModel } from './rerank-units.js';

/** A price as a public list states it. */
export type ListedPrice = Pick<Price, 'model' | 'unit' | 'price'> & { readonly provider: ProviderSlug };

/** A rerank model of the list that is not imported. */
export interface LeftOut {
  readonly model: string;
  readonly reason: string;
}

export interface ReadPriceList {
  readonly prices: readonly ListedPrice[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Reads the rerank prices of a list. `document` has its numbers as text.
 * @throws Error, UnexpectedShapeError
 */
export type PriceListReader = (document: unknown, fileName: string) => ReadPriceList;

/** A rerank model in a list. */
export interface ListEntry {
  readonly name: string;
  readonly provider: ProviderSlug;
  readonly sold: SoldModel | undefined;
  /** Called only when the unit of sale is known. */
  readonly priceFor: (unit: PricedUnit) => bigint | undefined;
}

/** Splits a list into the prices to import, and the models to leave out with the reason. */
export function sortEntries(entries: readonly ListEntry[]): ReadPriceList {
  const prices: ListedPrice[] = [];
  const leftOut: LeftOut[] = [];
  for (const { name, provider, sold, priceFor } of entries) {
    const price = sold === undefined ? undefined : priceFor(sold.unit);
    if (sold === undefined) leftOut.push({ model: name, reason: 'its unit of sale (search or token) is not known' });
    else if (price === undefined) leftOut.push({ model: name, reason: 'the list has no price for it' });
    else if (price > MAX_PRICE)
      leftOut.push({ model: name, reason: 'its price is more than a million dollars a unit' });
    else prices.push({ provider, ...sold, price });
  }
  return { prices, leftOut };
}
