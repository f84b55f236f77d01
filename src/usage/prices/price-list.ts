import { foldModel } from '../model-names.js';
import type { Price, PricedUnit } from './price.types.js';

const ANY = '*';

/**
 * The prices of a model at a moment: for each unit the row that fits its name best, and of those the newest in force.
 * `lists` in order of precedence: where one has the model at all, the later ones do not count.
 */
export function pricesOf(
  lists: readonly (readonly Price[])[],
  provider: string,
  model: string,
  at: Date,
): readonly Price[] {
  for (const list of lists) {
    const best = new Map<PricedUnit, Price>();
    for (const price of list) {
      if (price.provider !== provider || price.effectiveFrom > at || !fits(price.model, model)) continue;
      const known = best.get(price.unit);
      if (known === undefined || isBetter(price, known)) best.set(price.unit, price);
    }
    if (best.size > 0) return [...best.values()];
  }
  return [];
}

function fits(pattern: string, model: string): boolean {
  const folded = foldModel(pattern);
  return folded.endsWith(ANY) ? model.startsWith(folded.slice(0, -ANY.length)) : folded === model;
}

/** A whole name before a beginning, a longer beginning before a shorter one, then the newer row. */
function isBetter(price: Price, known: Price): boolean {
  const [ownRank, knownRank] = [rank(price.model), rank(known.model)];
  return ownRank === knownRank ? price.effectiveFrom >= known.effectiveFrom : ownRank > knownRank;
}

function rank(pattern: string): number {
  return pattern.endsWith(ANY) ? pattern.length : Infinity;
}
