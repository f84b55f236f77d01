export const PRICED_UNITS = ['search_unit', 'input_token', 'output_token', 'request'] as const;
/** What a price is for. It belongs to the model's row: one provider sells by several units. */
export type PricedUnit = (typeof PRICED_UNITS)[number];

/** Billionths of a billionth of a US dollar: the smallest price of one token has thirteen decimals. */
export type AttoDollars = bigint;
export const PRICE_DECIMALS = 18;
/** A million dollars for one unit. A call is charged no more than that, so a higher price would not be what is charged. */
export const MAX_PRICE: AttoDollars = 1_000_000n * 10n ** BigInt(PRICE_DECIMALS);
export const MAX_MODEL_LENGTH = 512;

/** A price row. Rows never change: the ledger names the one that was used. */
export interface Price {
  readonly id: string;
  readonly provider: string;
  /** A name, or the beginning of names with `*` at its end. */
  readonly model: string;
  readonly unit: PricedUnit;
  /** For one unit. */
  readonly price: AttoDollars;
  readonly effectiveFrom: Date;
}

/** How much of each unit a call uses. */
export type Quantities = Readonly<Partial<Record<PricedUnit, bigint>>>;
