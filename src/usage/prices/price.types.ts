import type { ProviderSlug } from '../../upstream/providers/provider.types.js';
import { QUANTITY_UNITS, type QuantityUnit } from '../units.js';

/** The units that can have a price. Each price row has its own, since one provider sells by several units. */
export const PRICED_UNITS = QUANTITY_UNITS;
export type PricedUnit = QuantityUnit;

/** Older spellings, which the API still accepts. */
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

/** A price row. Rows never change, since the ledger refers to them. */
export interface Price {
  readonly id: string;
  readonly provider: string;
  /** A name, or a prefix of names that ends in `*`. */
  readonly model: string;
  readonly unit: PricedUnit;
  readonly mode: PriceMode;
  /** The tier: the price applies to calls with at least this many input tokens. */
  readonly minInputTokens: number;
  /** The price of one unit. */
  readonly price: AttoDollars;
  readonly effectiveFrom: Date;
  /** The time from which it does not apply any more; undefined when a newer price ends it. */
  readonly effectiveUntil?: Date | undefined;
}

/** A bundled price. */
export interface BundledPrice extends Price {
  readonly provider: ProviderSlug;
  /** The page with the price, and the day when it was read. */
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
  /** The tier: the input tokens from which its prices apply; 0 for all calls. */
  readonly tier: number;
  /** Ids of the price rows; empty when nothing is charged, or the call is unpriced and allowed. */
  readonly priceIds: readonly string[];
}

export const NO_RATE: AppliedRate = { mode: 'standard', tier: 0, priceIds: [] };
