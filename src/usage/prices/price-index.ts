import type { ModelName } from '../../upstream/providers/provider.types.js';
import { foldModel, isPattern } from '../model-names.js';
import type { Price } from './price.types.js';

/** A list of prices by provider and name, so that a look-up reads only the rows that may fit. */
export class PriceIndex {
  readonly #byName = new Map<string, number[]>();
  /** The rows with a star, by provider. */
  readonly #patterns = new Map<string, number[]>();

  private constructor(private readonly list: readonly Price[]) {
    for (const [place, { provider, model }] of list.entries()) {
      if (isPattern(model)) addTo(this.#patterns, provider, place);
      else addTo(this.#byName, keyOf(provider, foldModel(model)), place);
    }
  }

  /** Creates the index of a list once, since the books of all organisations contain the bundled list. */
  static of(list: readonly Price[]): PriceIndex {
    const known = indexes.get(list);
    if (known !== undefined) return known;
    const made = new PriceIndex(list);
    indexes.set(list, made);
    return made;
  }

  /**
   * Returns the rows that may fit, in the order of the list.
   * @param groups the model's folded names
   */
  rowsFor(provider: string, groups: readonly (readonly ModelName[])[]): readonly Price[] {
    const places = new Set(this.#patterns.get(provider));
    for (const { text } of groups.flat()) {
      for (const place of this.#byName.get(keyOf(provider, text)) ?? []) places.add(place);
    }
    return [...places].sort((one, other) => one - other).flatMap((place) => this.list[place] ?? []);
  }
}

const indexes = new WeakMap<readonly Price[], PriceIndex>();

function addTo(places: Map<string, number[]>, key: string, place: number): void {
  const known = places.get(key);
  if (known === undefined) places.set(key, [place]);
  else known.push(place);
}

function keyOf(provider: string, model: string): string {
  return `${provider} ${model}`;
}
