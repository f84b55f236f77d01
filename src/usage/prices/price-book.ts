import { LRUCache } from 'lru-cache';
import { pricedNames } from '../model-names.js';
import { PriceIndex } from './price-index.js';
import { pricesOf } from './price-list.js';
import { MAX_MODEL_LENGTH, type Price, PRICED_UNITS, type PricedUnit } from './price.types.js';

const MAX_LOOK_UPS = 1_000;

/** The prices that count for one organisation, and what was looked up in them. */
export class PriceBook {
  private readonly known = new LRUCache<string, readonly Price[]>({ max: MAX_LOOK_UPS });
  /** When a row comes into force or ends, Unix milliseconds. */
  private readonly turns: readonly number[];
  private readonly indexes: readonly PriceIndex[];
  /** What is known is right from here, and up to there. */
  private from = Infinity;
  private until = -Infinity;

  /** `lists` in order of precedence: where one has the model, the later ones do not count. */
  constructor(private readonly lists: readonly (readonly Price[])[]) {
    this.turns = lists.flat().flatMap(turnsOf);
    this.indexes = lists.map((list) => PriceIndex.of(list));
  }

  pricesFor(provider: string, model: string, at: Date, units: readonly PricedUnit[] = PRICED_UNITS): readonly Price[] {
    // Names come from callers: long ones that fit a `*` are not worth the memory.
    if (model.length > MAX_MODEL_LENGTH) return this.lookUp(provider, model, at, units);
    const time = at.getTime();
    if (time < this.from || time >= this.until) this.turnTo(time);
    const key = `${provider} ${units.join(' ')} ${model}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const found = this.lookUp(provider, model, at, units);
    this.known.set(key, found);
    return found;
  }

  /** Whether the book was made from exactly these rows, so that it can be kept. */
  isOf(lists: readonly (readonly Price[])[]): boolean {
    return (
      lists.length === this.lists.length &&
      lists.every((list, index) => {
        const own = this.lists[index] ?? [];
        if (list === own) return true;
        return list.length === own.length && list.every((price, place) => price.id === own[place]?.id);
      })
    );
  }

  private lookUp(provider: string, model: string, at: Date, units: readonly PricedUnit[]): readonly Price[] {
    const names = pricedNames(provider, model);
    const lists = this.indexes.map((index) => index.rowsFor(provider, names));
    return pricesOf(lists, provider, names, at, units);
  }

  private turnTo(time: number): void {
    this.known.clear();
    this.from = this.turns.reduce((latest, turn) => (turn <= time ? Math.max(latest, turn) : latest), -Infinity);
    this.until = this.turns.reduce((next, turn) => (turn > time ? Math.min(next, turn) : next), Infinity);
  }
}

function turnsOf({ effectiveFrom, effectiveUntil }: Price): readonly number[] {
  return effectiveUntil === undefined ? [effectiveFrom.getTime()] : [effectiveFrom.getTime(), effectiveUntil.getTime()];
}
