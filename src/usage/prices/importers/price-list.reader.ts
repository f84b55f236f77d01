import type { ProviderSlug } from '../../../upstream/vendors/vendor.types.js';
import type { Price } from '../price.types.js';

/** A price as a public list states it. */
export type ListedPrice = Pick<Price, 'model' | 'unit' | 'price'> & { readonly provider: ProviderSlug };

/** A rerank model of the list that is not taken over. */
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

export const UNKNOWN_UNIT = 'its unit of sale (search or token) is not known';
export const NO_PRICE = 'the list has no price for it';
