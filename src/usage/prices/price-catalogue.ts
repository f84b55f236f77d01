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

/** The prices of models: the organisation's own, then the operator's, then the bundled ones. */
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
   * The prices of a model at a time, for the units of a call; empty when it has none.
   * @throws the database's error when the organisation's prices were never read
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

  /** Call it after a new price on this replica. */
  forget(organisationId: string): void {
    this.books.forget(organisationId);
  }

  /** Returns the known book, with its cached look-ups, when nothing has changed. */
  private async read(organisationId: string, known: PriceBook | undefined): Promise<PriceBook> {
    const rows = (await this.store.all(organisationId)).map(fromRow);
    const own = rows.filter((row) => row.organisationId !== null);
    const lists = [own, rows.filter((row) => row.organisationId === null), bundledVisible()];
    return known?.isOf(lists) === true ? known : new PriceBook(lists);
  }
}

const MAX_LOOK_UPS = 1_000;

/** The prices of one organisation, with cached look-ups. */
export class PriceBook {
  private readonly known = new LRUCache<string, readonly Price[]>({ max: MAX_LOOK_UPS });
  /** The times when rows begin or end, in Unix milliseconds. */
  private readonly turns: readonly number[];
  private readonly indexes: readonly PriceIndex[];
  /** The cached look-ups are valid from `from` (inclusive) until `until` (exclusive), in Unix milliseconds. */
  private from = Infinity;
  private until = -Infinity;

  /** @param lists in order of precedence: the first one that has the model counts */
  constructor(private readonly lists: readonly (readonly Price[])[]) {
    this.turns = lists.flat().flatMap(turnsOf);
    this.indexes = lists.map((list) => PriceIndex.of(list));
  }

  pricesFor(provider: string, model: string, at: Date, units: readonly PricedUnit[] = PRICED_UNITS): readonly Price[] {
    // Clients choose the names, so long ones that match a `*` are not cached.
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
