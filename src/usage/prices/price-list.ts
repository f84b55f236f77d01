import type { ModelName } from '../../upstream/providers/provider.types.js';
import { compilePattern, foldModel } from '../model-names.js';
import { type Price, PRICED_UNITS, type PricedUnit } from './price.types.js';

const ANY = '*';
/** The rank of `*`, which matches any name. */
const RANK_OF_ANY = 0;
/** More than the longest pattern has characters. */
const RANKS_OF_A_NAME = 10_000;

/**
 * The prices of a model at a time: the rows whose pattern fits best, and of those the newest for each unit, mode and
 * tier. A pattern that fits less well adds nothing: `*` is for models without a price of their own.
 * @param lists in order of precedence: the first one that has the model counts
 * @param names of the model, folded, in groups: an earlier group takes precedence
 * @param units that the call has; prices for other units are ignored
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
 * How well a pattern fits. Names of an earlier group take precedence over those of a later one, whole names over
 * prefixes, and longer prefixes over shorter ones.
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
