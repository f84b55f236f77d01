import type { ModelName } from '../../upstream/providers/provider.types.js';
import { compilePattern, foldModel } from '../model-names.js';
import { type Price, PRICED_UNITS, type PricedUnit } from './price.types.js';

const ANY = '*';
/** A model of any name, whatever better the list has. */
const RANK_OF_ANY = 0;
/** More than a pattern has characters. */
const RANKS_OF_A_NAME = 10_000;

/**
 * The prices of a model at a moment: the rows whose pattern fits it best, and of those the newest in force for each unit,
 * mode and tier. A
 * pattern that fits less well adds nothing: `*` is for models without a price of their own.
 * @param lists in order of precedence: where one has the model at all, the later ones do not count
 * @param names of the model, folded, in groups: an earlier group takes precedence
 * @param units that the call has: prices for other units are ignored
 */
export function pricesOf(
  lists: readonly (readonly Price[])[],
  provider: string,
  names: readonly (readonly ModelName[])[],
  at: Date,
  units: readonly PricedUnit[] = PRICED_UNITS,
): readonly Price[] {
  for (const list of lists) {
    let bestRank = RANK_OF_ANY;
    let best = new Map<string, Price>();
    for (const price of list) {
      if (price.provider !== provider || !isInForce(price, at)) continue;
      if (!units.includes(price.unit)) continue;
      const rank = rankOf(foldModel(price.model), names);
      if (rank === undefined || rank < bestRank) continue;
      if (rank > bestRank) best = new Map();
      bestRank = rank;
      const place = `${price.unit} ${price.mode} ${price.minInputTokens}`;
      const known = best.get(place);
      if (known === undefined || price.effectiveFrom >= known.effectiveFrom) best.set(place, price);
    }
    if (best.size > 0) return [...best.values()];
  }
  return [];
}

export function isInForce({ effectiveFrom, effectiveUntil }: Price, at: Date): boolean {
  return effectiveFrom <= at && (effectiveUntil === undefined || at < effectiveUntil);
}

/**
 * How well a pattern fits: names of an earlier group before those of a later one, a whole name before a beginning, a longer
 * beginning before a shorter one, whatever the mark of the name.
 */
function rankOf(pattern: string, groups: readonly (readonly ModelName[])[]): number | undefined {
  if (pattern === ANY) return RANK_OF_ANY;
  const fits = compilePattern(pattern);
  for (const [place, names] of groups.entries()) {
    const name = names.find(fits);
    if (name === undefined) continue;
    const closeness = pattern.endsWith(ANY) ? pattern.length - name.markLength : RANKS_OF_A_NAME - 1;
    return (groups.length - place) * RANKS_OF_A_NAME + closeness;
  }
  return undefined;
}
