import { foldModel } from '../model-names.js';
import { type Price, PRICED_UNITS, type PricedUnit } from './price.types.js';

const ANY = '*';
/** A model of any name, whatever better the list has. */
const RANK_OF_ANY = 0;
/** More than a pattern has characters. */
const RANKS_OF_A_NAME = 10_000;

/**
 * The prices of a model at a moment: the rows whose pattern fits it best, and of those the newest in force for each unit. A
 * pattern that fits less well adds nothing: `*` is for models without a price of their own.
 * @param lists in order of precedence: where one has the model at all, the later ones do not count
 * @param names of the model, folded, in order of precedence
 * @param units that the call has: prices for others are passed over, as if they were not there
 */
export function pricesOf(
  lists: readonly (readonly Price[])[],
  provider: string,
  names: readonly string[],
  at: Date,
  units: readonly PricedUnit[] = PRICED_UNITS,
): readonly Price[] {
  for (const list of lists) {
    let bestRank = RANK_OF_ANY;
    let best = new Map<PricedUnit, Price>();
    for (const price of list) {
      if (price.provider !== provider || price.effectiveFrom > at) continue;
      if (!units.includes(price.unit)) continue;
      const rank = rankOf(foldModel(price.model), names);
      if (rank === undefined || rank < bestRank) continue;
      if (rank > bestRank) best = new Map();
      bestRank = rank;
      const known = best.get(price.unit);
      if (known === undefined || price.effectiveFrom >= known.effectiveFrom) best.set(price.unit, price);
    }
    if (best.size > 0) return [...best.values()];
  }
  return [];
}

/** How well a pattern fits: an earlier name before a later one, a whole name before a beginning, a longer one before a shorter one. */
function rankOf(pattern: string, names: readonly string[]): number | undefined {
  if (pattern === ANY) return RANK_OF_ANY;
  const place = names.findIndex((name) => fits(pattern, name));
  if (place < 0) return undefined;
  const closeness = pattern.endsWith(ANY) ? pattern.length : RANKS_OF_A_NAME - 1;
  return (names.length - place) * RANKS_OF_A_NAME + closeness;
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith(ANY) ? name.startsWith(pattern.slice(0, -ANY.length)) : pattern === name;
}
