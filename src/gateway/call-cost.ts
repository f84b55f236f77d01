import {
  believableCost,
  highestPrices,
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

/** The largest plausible quantity of a call, in any unit. Larger reports are ignored. */
const HIGHEST_COUNT = Number(MAX_FIGURE);
const HIGHEST_BOUND = Number(MAX_BOUND);

export const NOTHING: UsageFigures = { costNano: 0n, quantities: NO_QUANTITIES };

/** A report above the bound is accepted up to this multiple of the bound. */
const ACCEPTED_MULTIPLE = 4n;

const NO_PRICES: readonly Price[] = [];

/** The mode of a call that names none. */
const MODE: PriceMode = 'standard';
const MODES: readonly PriceMode[] = [MODE];

/** The highest cost of a call, and how its prices apply. */
export interface CallCost {
  /** The prices of all tiers and modes. */
  readonly prices: readonly Price[];
  /** Whether the prices cover all units of the call. If not, `prices` is empty. */
  readonly isPriced: boolean;
  /** The modes in which the call may be served. */
  readonly modes: readonly PriceMode[];
  /** The rate of the bound: for each unit, the highest price that can apply. */
  readonly rate: AppliedRate;
  readonly bound: UsageFigures;
}

/**
 * The units that a call can use: those that its estimate names. A price for any other unit would make the call free. A
 * token unit that is named with 0 shares the bound of `input` or `output`.
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
  const highest = highestPrices(counting, modes, quantities);
  const rate = rateOf(highest, modeOf(highest));
  return { prices: counting, isPriced, modes, rate, bound: figuresAt(quantities, highest) };
}

/**
 * The largest output, in tokens, with which a call fits; 0 when it never fits.
 * @param fits whether the limits have room for this bound
 */
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

/** How a report above the bound is charged: with its own figures, or with those of the bound. */
export type AboveBound = 'reported' | 'capped';

export interface ReportCost {
  readonly figures: UsageFigures;
  readonly rate: AppliedRate;
  readonly source: FigureSource;
  /** undefined when the report is within the bound, or is the gateway's own count. */
  readonly aboveBound: AboveBound | undefined;
}

/**
 * The cost by the provider's figures, and by the bound for units that it does not report. A report far above the bound
 * is charged as the bound.
 * @param bound the reserved figures: a stream may have extended those of its estimate
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
  // The unit that decides the cost: the one by which the provider bills, if it has a price.
  let decisive = prices[0]?.unit ?? estimate.unit;
  for (const { unit } of prices) if (unit === estimate.unit) decisive = unit;
  const isReported = reported.isComputed !== true && own[decisive] !== undefined;
  const quantities = quantitiesOr(own, estimated.quantities);
  const mode = reported.mode ?? modes[0] ?? MODE;
  const applied = pricesThatApply(prices, mode, quantities);
  const priced = figuresAt(quantities, applied);
  // Limits are in dollars of the price list, so a call that was reserved by a price is charged by that price.
  const cost = isPriced || reported.isComputed === true ? undefined : reported.cost;
  return {
    figures: cost === undefined ? priced : { ...priced, costNano: believableCost(cost) },
    rate: rateOf(applied, mode),
    source: isReported ? 'provider' : 'computed',
    aboveBound: above,
  };
}

/**
 * Ignores a report of zeros: some servers report them when they do not count tokens. Other units may really be zero.
 */
function reportedQuantities({ counts, isComputed }: ReportedUsage, { unit: billed }: UsageEstimate): Quantities {
  const quantities = quantitiesOf(counts);
  if (isComputed === true || !isTokenUnit(billed)) return quantities;
  for (const unit of QUANTITY_UNITS) if ((quantities[unit] ?? 0n) > 0n) return quantities;
  return NO_QUANTITIES;
}

export function aboveBound(reported: Quantities, bound: Quantities): AboveBound | undefined {
  if (isWithinBound(reported, bound)) return undefined;
  return isWithinBound(reported, bound, ACCEPTED_MULTIPLE) ? 'reported' : 'capped';
}

/** The figures of a raised bound, at the highest prices that can apply. */
export function boundOf(quantities: Quantities, { prices, modes }: CallCost): UsageFigures {
  return figuresAt(quantities, highestPrices(prices, modes, quantities));
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

/**
 * The largest quantities that a call may use. An implausible bound becomes the highest plausible one, never no bound.
 */
export function boundsOf(counts: Counts): Quantities {
  const believable: Partial<Record<QuantityUnit, number>> = {};
  for (const unit of QUANTITY_UNITS) {
    const most = counts[unit];
    if (most !== undefined) believable[unit] = Math.min(most, HIGHEST_BOUND);
  }
  return quantitiesOf(believable);
}

/** The figure rounded up to a whole number; undefined when it is absent or implausible. */
export function believableCount(figure: number | undefined): number | undefined {
  if (figure === undefined || !(figure >= 0 && figure <= HIGHEST_COUNT)) return undefined;
  return Math.ceil(figure);
}

/** The mode of a bound, whose prices may have several: the one that is not `standard`. */
function modeOf(prices: readonly Price[]): PriceMode {
  return prices.find(({ mode }) => mode !== MODE)?.mode ?? MODE;
}

/**
 * How an attempt at a provider is charged. `nothing_sent`: not counted. `free`: counted, at no cost. `unknown`: the
 * provider may have done the work. `answered`: the answer reports the cost.
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
