import { Injectable } from '@nestjs/common';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { Clock } from '../../common/time/clock.js';
import { StaleWhileRevalidateCache } from '../../database/stale-while-revalidate.cache.js';
import { PriceStore } from './price.store.js';
import { type Price, PRICED_UNITS, type PricedUnit, MAX_MODEL_LENGTH } from './price.types.js';
import { bundledVisible, fromRow } from './visible-price.js';
import { LRUCache } from 'lru-cache';
import { pricedNames } from '../model-names.js';
import { PriceIndex } from './price-index.js';
import { pricesOf } from './price-list.js';

/** What models cost: the organisation's own prices, then the operator's, then those that come with the gateway. */
@Injectable()
export class PriceCatalogue {
  private readonly books = new StaleWhileRevalidateCache<PriceBook>((organisationId, known) =>
    this.read(organisationId, known),
  );

  constructor(
    private readonly store: PriceStore,
    private readonly clock: Clock,
  ) {}

  /**
   * The prices of a model at a moment, one for each of the units that the call has; none: it has no price.
   * @throws what the database throws when the organisation's prices were never read
   */
  pricesFor(
    organisationId: string,
    provider: string,
    model: string,
    at: Date,
    units: readonly PricedUnit[] = PRICED_UNITS,
  ): MaybePromise<readonly Price[]> {
    const book = this.books.get(organisationId, this.clock.now().getTime());
    if (book instanceof Promise) return book.then((loaded) => loaded.pricesFor(provider, model, at, units));
    return book.pricesFor(provider, model, at, units);
  }

  /** After a new price on this replica. */
  forget(organisationId: string): void {
    this.books.forget(organisationId);
  }

  /** The known book, with what was looked up in it, where nothing has changed. */
  private async read(organisationId: string, known: PriceBook | undefined): Promise<PriceBook> {
    const rows = (await this.store.all(organisationId)).map(fromRow);
    const own = rows.filter((row) => row.organisationId !== null);
    const lists = [own, rows.filter((row) => row.organisationId === null), bundledVisible()];
    return known?.isOf(lists) === true ? known : new PriceBook(lists);
  }
}

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
