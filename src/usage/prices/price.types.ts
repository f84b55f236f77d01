import type { ProviderSlug } from '../../upstream/providers/provider.types.js';
import { QUANTITY_UNITS, type QuantityUnit } from '../units.js';

/** The units that can have a price. Each price row has its own, since one provider sells by several units. */
export const PRICED_UNITS = QUANTITY_UNITS;
export type PricedUnit = QuantityUnit;

/** Older spellings, which the API takes as well. */
const UNIT_SYNONYMS = { input_token: 'input', output_token: 'output' } as const satisfies Record<string, PricedUnit>;

/** All spellings of units in the API. A price shows the one that it was set with. */
export const UNIT_SPELLINGS = [...PRICED_UNITS, 'input_token', 'output_token'] as const;
export type UnitSpelling = (typeof UNIT_SPELLINGS)[number];

export function unitOf(spelling: UnitSpelling): PricedUnit {
  return spelling === 'input_token' || spelling === 'output_token' ? UNIT_SYNONYMS[spelling] : spelling;
}

export function spellingsOf(unit: PricedUnit): readonly UnitSpelling[] {
  return UNIT_SPELLINGS.filter((spelling) => unitOf(spelling) === unit);
}

/** 10^-18 US dollars: the smallest price of one token has thirteen decimals. */
export type AttoDollars = bigint;
export const PRICE_DECIMALS = 18;
/** A million dollars for one unit. No call is charged more, so a higher price could not be charged. */
export const MAX_PRICE: AttoDollars = 1_000_000n * 10n ** BigInt(PRICE_DECIMALS);
export const MAX_MODEL_LENGTH = 512;

/** A price row. Rows never change: the ledger names the one that was used. */
export interface Price {
  readonly id: string;
  readonly provider: string;
  /** A name, or the beginning of names with `*` at its end. */
  readonly model: string;
  readonly unit: PricedUnit;
  readonly mode: PriceMode;
  /** The tier: it counts for calls with at least so many input tokens. */
  readonly minInputTokens: number;
  /** For one unit. */
  readonly price: AttoDollars;
  readonly effectiveFrom: Date;
  /** From when it does not count any more; undefined: until a newer one does. */
  readonly effectiveUntil?: Date | undefined;
}

/** A bundled price. */
export interface BundledPrice extends Price {
  readonly provider: ProviderSlug;
  /** Where it was read, and on which day. */
  readonly source: string;
  readonly readOn: string;
}

/** How a call is served, which decides its prices. */
export const PRICE_MODES = ['standard', 'batch', 'flex', 'priority', 'fast', 'ultrafast'] as const;
export type PriceMode = (typeof PRICE_MODES)[number];

/** The endpoint of calls that are served later, at lower prices. */
export const BATCHES = 'batches';

/** The mode of an endpoint's calls that name none. */
export function modeOfEndpoint(endpoint: string | undefined): PriceMode {
  return endpoint === BATCHES ? 'batch' : 'standard';
}

/** The prices by which a cost was computed. */
export interface AppliedRate {
  readonly mode: PriceMode;
  /** Input tokens from which its prices count: 0 for those of every call. */
  readonly tier: number;
  /** Rows of the prices; empty: nothing to pay, or unpriced and allowed. */
  readonly priceIds: readonly string[];
}

export const NO_RATE: AppliedRate = { mode: 'standard', tier: 0, priceIds: [] };
