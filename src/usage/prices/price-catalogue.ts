import { Injectable } from '@nestjs/common';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { Clock } from '../../common/time/clock.js';
import { StaleWhileRevalidateCache } from '../../database/stale-while-revalidate.cache.js';
import { PriceBook } from './price-book.js';
import { PriceStore } from './price.store.js';
import { type Price, PRICED_UNITS, type PricedUnit } from './price.types.js';
import { bundledVisible, fromRow } from './visible-price.js';

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
