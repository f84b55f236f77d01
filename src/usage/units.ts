/**
 * The units that providers bill by. `input` never includes tokens of another unit; `output` includes reasoning. A new
 * unit needs a line here, columns in the rollup tables and their functions (see `columnOfUnit`), and, if it counts
 * tokens, a line in `INPUT_UNITS` or `OUTPUT_UNITS`.
 */
export const QUANTITY_UNITS = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'output',
  'input_audio',
  'output_audio',
  'input_image',
  'output_image',
  'search_unit',
  'request',
  'web_search',
  'audio_second',
  'image',
  'training',
] as const;
export type QuantityUnit = (typeof QUANTITY_UNITS)[number];

/** Tokens that a model reads. */
export const INPUT_UNITS = [
  'input',
  'cache_read',
  'cache_write_5m',
  'cache_write_1h',
  'input_audio',
  'input_image',
  // The tokens that a fine-tuning job reads, once in each epoch.
  'training',
] as const satisfies readonly QuantityUnit[];

/** Tokens that a model writes. */
export const OUTPUT_UNITS = ['output', 'output_audio', 'output_image'] as const satisfies readonly QuantityUnit[];

const TOKEN_UNITS: readonly QuantityUnit[] = [...INPUT_UNITS, ...OUTPUT_UNITS];

/** Units other than tokens. */
const OTHER_UNITS = [
  'search_unit',
  'request',
  'web_search',
  'audio_second',
  'image',
] as const satisfies readonly QuantityUnit[];

/** Whole numbers by unit. A unit that is absent is unknown, or does not apply; 0 is a value. */
export type Quantities = Readonly<Partial<Record<QuantityUnit, bigint>>>;

/** Figures of a provider or an estimate: not validated, and perhaps not whole numbers. */
export type Counts = Readonly<Partial<Record<QuantityUnit, number | undefined>>>;

/** Quantities in JSON. A figure is at most 10^15, which a JSON number holds exactly. */
export type QuantitiesJson = Readonly<Partial<Record<QuantityUnit, number>>>;

/** A million dollars in nano-dollars, or 10^15 tokens: more than any call uses. */
export const MAX_FIGURE = 10n ** 15n;

/** The highest bound of one unit, so that the tokens of all units together stay within `MAX_FIGURE`. */
export const MAX_BOUND = MAX_FIGURE / BigInt(INPUT_UNITS.length + OUTPUT_UNITS.length);

export const NO_QUANTITIES: Quantities = {};

/** The amount that a policy of type `tokens` counts: the sum of the token units. */
export function tokensOf(quantities: Quantities): bigint {
  return sumOf(INPUT_UNITS, quantities) + sumOf(OUTPUT_UNITS, quantities);
}

/** The amount that a policy of type `tokens` counts, for quantities in JSON. */
export function tokensOfJson(quantities: Readonly<Record<string, number>>): number {
  let sum = 0;
  for (const unit of TOKEN_UNITS) sum += quantities[unit] ?? 0;
  return sum;
}

/** Tokens of input, of all kinds. */
export function inputTokensOf(quantities: Quantities): bigint {
  return sumOf(INPUT_UNITS, quantities);
}

/** Adds quantities by unit, up to `MAX_BOUND`. A unit that only one of them has keeps its figure. */
export function addQuantities(one: Quantities, other: Quantities): Quantities {
  return combine(one, other, (a, b) => (a + b > MAX_BOUND ? MAX_BOUND : a + b));
}

export function isTokenUnit(unit: QuantityUnit): boolean {
  for (const other of OTHER_UNITS) if (other === unit) return false;
  return true;
}

/** Fills missing units with the figures of `others`. */
export function quantitiesOr(quantities: Quantities, others: Quantities): Quantities {
  return { ...others, ...quantities };
}

/** Whether a counter can hold these figures. */
export function isCountable({ costNano, quantities }: { readonly costNano: bigint; readonly quantities: Quantities }) {
  let tokens = 0n;
  for (const unit of QUANTITY_UNITS) {
    const quantity = quantities[unit];
    if (quantity === undefined) continue;
    if (quantity < 0n || quantity > MAX_FIGURE) return false;
    if (isTokenUnit(unit)) tokens += quantity;
  }
  return tokens <= MAX_FIGURE && costNano >= 0n && costNano <= MAX_FIGURE;
}

/** The larger figure of each unit: a bound that holds for both. */
export function largestQuantities(one: Quantities, other: Quantities): Quantities {
  return combine(one, other, (a, b) => (a > b ? a : b));
}

/**
 * Whether no figure is above `factor` times that of the bound. Input tokens of all kinds share one bound, since it is not known
 * before the call how many of them are cached; so do output tokens. Other units without a bound are not compared.
 */
export function isWithinBound(quantities: Quantities, bound: Quantities, factor = 1n): boolean {
  if (sumOf(INPUT_UNITS, quantities) > factor * sumOf(INPUT_UNITS, bound)) return false;
  if (sumOf(OUTPUT_UNITS, quantities) > factor * sumOf(OUTPUT_UNITS, bound)) return false;
  for (const unit of OTHER_UNITS) {
    const quantity = quantities[unit];
    if (quantity !== undefined && quantity > factor * (bound[unit] ?? MAX_FIGURE)) return false;
  }
  return true;
}

export function toQuantitiesJson(quantities: Quantities): QuantitiesJson {
  const json: Partial<Record<QuantityUnit, number>> = {};
  for (const unit of QUANTITY_UNITS) {
    const quantity = quantities[unit];
    if (quantity !== undefined) json[unit] = Number(quantity);
  }
  return json;
}

/** Units that this version does not know are left out: a newer gateway of the same database may have written them. */
export function fromQuantitiesJson(json: Readonly<Record<string, unknown>>): Quantities {
  const quantities: Partial<Record<QuantityUnit, bigint>> = {};
  for (const unit of QUANTITY_UNITS) {
    const quantity = json[unit];
    if (typeof quantity === 'number' && Number.isSafeInteger(quantity)) quantities[unit] = BigInt(quantity);
  }
  return quantities;
}

function sumOf(units: readonly QuantityUnit[], quantities: Quantities): bigint {
  let sum = 0n;
  for (const unit of units) {
    const quantity = quantities[unit];
    // Most units are absent, and each addition of bigints allocates a new one.
    if (quantity !== undefined) sum += quantity;
  }
  return sum;
}

function combine(one: Quantities, other: Quantities, choose: (a: bigint, b: bigint) => bigint): Quantities {
  const combined: Partial<Record<QuantityUnit, bigint>> = {};
  for (const unit of QUANTITY_UNITS) {
    const a = one[unit];
    const b = other[unit];
    const quantity = a === undefined || b === undefined ? (a ?? b) : choose(a, b);
    if (quantity !== undefined) combined[unit] = quantity;
  }
  return combined;
}
