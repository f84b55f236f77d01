import {
  believableCost,
  dearestPrices,
  figuresAt,
  isWhollyPriced,
  pricesThatApply,
  rateOf,
} from '../usage/prices/cost.js';
import type { AppliedRate, Price, PriceMode } from '../usage/prices/price.types.js';
import {
  type Counts,
  isTokenUnit,
  isWithinBound,
  MAX_BOUND,
  MAX_FIGURE,
  NO_QUANTITIES,
  QUANTITY_UNITS,
  type Quantities,
  quantitiesOr,
  type QuantityUnit,
} from '../usage/units.js';
import type { FigureSource, UsageFigures } from '../usage/usage-store.types.js';
import type { ReportedUsage, UsageEstimate } from './billable-use.js';
import { assertNever } from '../common/assert-never.js';
import type { UpstreamAttempt } from '../upstream/upstream.types.js';

/** More than any call uses, in any of the figures. What is beyond is not believed. */
const HIGHEST_COUNT = Number(MAX_FIGURE);
const HIGHEST_BOUND = Number(MAX_BOUND);

export const NOTHING: UsageFigures = { costNano: 0n, quantities: NO_QUANTITIES };

/** A report above the bound is believed up to so many times the bound. */
const BELIEVED_TIMES = 4n;

const NO_PRICES: readonly Price[] = [];

/** Of calls that do not name one. */
const MODE: PriceMode = 'standard';
const MODES: readonly PriceMode[] = [MODE];

/** What a call costs at most, and how its prices apply. */
export interface CallCost {
  /** Of all tiers and modes. */
  readonly prices: readonly Price[];
  /** Whether its prices make up its whole cost; if not, it has none at all. */
  readonly isPriced: boolean;
  /** In which the call may be served. */
  readonly modes: readonly PriceMode[];
  /** That of the bound: of each unit the highest price that can apply. */
  readonly rate: AppliedRate;
  readonly bound: UsageFigures;
}

/**
 * The units that a call can use: those that its estimate names. A price for anything else would make it free. A unit of tokens
 * that is named with 0 shares the bound of `input` or `output`.
 */
export function measuredUnits({ counts, mayUse }: UsageEstimate): readonly QuantityUnit[] {
  const units: QuantityUnit[] = [];
  for (const unit of QUANTITY_UNITS) {
    if (unit === 'request' || counts[unit] !== undefined || mayUse?.includes(unit) === true) units.push(unit);
  }
  return units;
}

/** @param prices for the units that the call can use, as `measuredUnits` names them */
export function costOfEstimate(estimate: UsageEstimate, prices: readonly Price[]): CallCost {
  const isPriced = isWhollyPriced(estimate, prices);
  const counting = isPriced ? prices : NO_PRICES;
  const quantities = boundsOf(estimate.counts);
  const { modes = MODES } = estimate;
  const dearest = dearestPrices(counting, modes, quantities);
  const rate = rateOf(dearest, modeOf(dearest));
  return { prices: counting, isPriced, modes, rate, bound: figuresAt(quantities, dearest) };
}

/** The most output with which a call fits, which fits with none. @param fits for what it would use */
export function outputThatFits(
  estimate: UsageEstimate,
  prices: readonly Price[],
  fits: (bound: UsageFigures) => boolean,
): number {
  const fitsWith = (output: number): boolean =>
    fits(costOfEstimate({ ...estimate, counts: { ...estimate.counts, output } }, prices).bound);
  let [most, tooMuch] = [0, (estimate.counts.output ?? 0) + 1];
  if (!fitsWith(0)) return 0;
  while (tooMuch - most > 1) {
    const middle = Math.floor((most + tooMuch) / 2);
    if (fitsWith(middle)) most = middle;
    else tooMuch = middle;
  }
  return most;
}

/** What a report above the bound is charged with: its own figures, or those of the bound. */
export type AboveBound = 'reported' | 'capped';

export interface ReportCost {
  readonly figures: UsageFigures;
  readonly rate: AppliedRate;
  readonly source: FigureSource;
  /** undefined: within the bound, or our own count. */
  readonly aboveBound: AboveBound | undefined;
}

/**
 * The provider's figures; of units that it does not report, those of the bound. A report far above the bound is not believed.
 * @param bound what is reserved: a stream may have extended that of its estimate
 */
export function costOfReport(
  reported: ReportedUsage,
  estimate: UsageEstimate,
  { prices, isPriced, modes, rate, bound: estimated }: CallCost,
  bound = estimated,
): ReportCost {
  const own = reportedQuantities(reported, estimate);
  const isUnbounded = reported.isComputed === true || estimate.unbounded !== undefined;
  const above = isUnbounded ? undefined : aboveBound(own, bound.quantities);
  if (above === 'capped') return { figures: bound, rate, source: 'capped', aboveBound: above };
  // The unit whose figure makes the cost: the one that the provider bills by, where it has a price.
  let decisive = prices[0]?.unit ?? estimate.unit;
  for (const { unit } of prices) if (unit === estimate.unit) decisive = unit;
  const isReported = reported.isComputed !== true && own[decisive] !== undefined;
  const quantities = quantitiesOr(own, estimated.quantities);
  const mode = reported.mode ?? modes[0] ?? MODE;
  const applied = pricesThatApply(prices, mode, quantities);
  const priced = figuresAt(quantities, applied);
  // A limit is in dollars of the price list: what is reserved by a price is charged by it too.
  const cost = isPriced || reported.isComputed === true ? undefined : reported.cost;
  return {
    figures: cost === undefined ? priced : { ...priced, costNano: believableCost(cost) },
    rate: rateOf(applied, mode),
    source: isReported ? 'provider' : 'computed',
    aboveBound: above,
  };
}

/** Some servers write zeros where they count no tokens: an answer of a model has used some. Who bills by other units may bill none. */
function reportedQuantities({ counts, isComputed }: ReportedUsage, { unit: billed }: UsageEstimate): Quantities {
  const quantities = quantitiesOf(counts);
  if (isComputed === true || !isTokenUnit(billed)) return quantities;
  for (const unit of QUANTITY_UNITS) if ((quantities[unit] ?? 0n) > 0n) return quantities;
  return NO_QUANTITIES;
}

export function aboveBound(reported: Quantities, bound: Quantities): AboveBound | undefined {
  if (isWithinBound(reported, bound)) return undefined;
  return isWithinBound(reported, bound, BELIEVED_TIMES) ? 'reported' : 'capped';
}

/** A raised bound, at the highest prices that can apply to it. */
export function boundOf(quantities: Quantities, { prices, modes }: CallCost): UsageFigures {
  return figuresAt(quantities, dearestPrices(prices, modes, quantities));
}

/** The rate of an attempt that costs nothing. */
export function rateOfNothing(prices: readonly Price[]): AppliedRate {
  return rateOf(pricesThatApply(prices, MODE, NO_QUANTITIES), MODE);
}

export function quantitiesOf(counts: Counts): Quantities {
  const quantities: Partial<Record<QuantityUnit, bigint>> = {};
  for (const unit of QUANTITY_UNITS) {
    const figure = counts[unit];
    if (figure === undefined) continue;
    const count = believableCount(figure);
    if (count !== undefined) quantities[unit] = BigInt(count);
  }
  return quantities;
}

/** The quantities that a call may use at most. A bound that cannot be true counts as the highest one, never as none. */
export function boundsOf(counts: Counts): Quantities {
  const believable: Partial<Record<QuantityUnit, number>> = {};
  for (const unit of QUANTITY_UNITS) {
    const most = counts[unit];
    if (most !== undefined) believable[unit] = Math.min(most, HIGHEST_BOUND);
  }
  return quantitiesOf(believable);
}

/** A whole number, rounded up; undefined where there is none, or one that cannot be true. */
export function believableCount(figure: number | undefined): number | undefined {
  if (figure === undefined || !(figure >= 0 && figure <= HIGHEST_COUNT)) return undefined;
  return Math.ceil(figure);
}

/** Of a bound, which may have prices of several: the one that is not the standard. */
function modeOf(prices: readonly Price[]): PriceMode {
  return prices.find(({ mode }) => mode !== MODE)?.mode ?? MODE;
}

/**
 * What an attempt at a provider costs. `nothing_sent`: it does not count at all. `free`: it counts, at no cost. `unknown`:
 * the provider may have done the work. `answered`: the answer reports the cost.
 */
export type AttemptResult = 'nothing_sent' | 'free' | 'unknown' | 'answered';

export function outcomeOfAttempt({ wasSent, status, failure }: UpstreamAttempt): AttemptResult {
  if (!wasSent) return 'nothing_sent';
  if (failure === undefined) return status !== undefined && status >= 200 && status <= 299 ? 'answered' : 'free';
  switch (failure) {
    case 'connect':
    case 'refused_by_egress':
    case 'busy':
      return 'nothing_sent';
    case 'redirect':
      return 'free';
    case 'broken':
    case 'incomplete':
    case 'interim':
    case 'timeout':
    case 'too_large':
    case 'caller_gone':
      return 'unknown';
    default:
      return assertNever(failure);
  }
}
