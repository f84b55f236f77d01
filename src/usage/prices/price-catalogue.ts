import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Clock } from '../../common/time/clock.js';
import { PriceBook } from './price-book.js';
import { PriceStore } from './price.store.js';
import type { Price } from './price.types.js';
import { BUNDLED, fromRow } from './visible-price.js';

/** How long prices are used before they are read again; a new one on this replica counts at once. */
const FRESH_MS = 1_000;
/** Until this age they still serve the calls that find them old, while they are read again: under traffic nobody waits. */
const REFRESH_MS = 5_000;
/** A call that has to wait for newer ones waits no longer than this, and then takes what is known. */
const PATIENCE_MS = 400;
/** While the database is away, the last known prices still count. */
const STALE_MS = 3_600_000;
const MAX_ORGANISATIONS = 10_000;

interface Entry {
  readonly book: PriceBook;
  /** Unix milliseconds. */
  readonly loadedAt: number;
}

/** What models cost: the organisation's own prices, then the operator's, then those that come with the gateway. */
@Injectable()
export class PriceCatalogue {
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_ORGANISATIONS, ttl: STALE_MS });
  private readonly loads = new Map<string, Promise<PriceBook>>();
  /** Goes up with every new price on this replica: a load that began before it may have missed it. */
  private changes = 0;

  constructor(
    private readonly store: PriceStore,
    private readonly clock: Clock,
  ) {}

  /**
   * The prices of a model at a moment, one for each unit that it is sold by; none: it has no price.
   * @throws what the database throws when the organisation's prices were never read
   */
  pricesFor(
    organisationId: string,
    provider: string,
    model: string,
    at: Date,
  ): readonly Price[] | Promise<readonly Price[]> {
    const book = this.bookOf(organisationId);
    return book instanceof Promise
      ? book.then((loaded) => loaded.pricesFor(provider, model, at))
      : book.pricesFor(provider, model, at);
  }

  /** After a new price on this replica. */
  forget(organisationId: string): void {
    this.changes += 1;
    this.loads.delete(organisationId);
    const entry = this.entries.get(organisationId);
    // Kept for the time when the database is away.
    if (entry !== undefined) this.entries.set(organisationId, { ...entry, loadedAt: -Infinity });
  }

  private bookOf(organisationId: string): PriceBook | Promise<PriceBook> {
    const now = this.clock.now().getTime();
    const entry = this.entries.get(organisationId);
    const age = entry === undefined ? Infinity : now - entry.loadedAt;
    if (entry !== undefined && age < FRESH_MS) return entry.book;
    const loaded = this.load(organisationId, now, entry?.book);
    if (entry === undefined) return loaded;
    const known = loaded.catch(() => entry.book);
    return age < REFRESH_MS ? entry.book : Promise.race([known, after(PATIENCE_MS, entry.book)]);
  }

  private load(organisationId: string, now: number, known: PriceBook | undefined): Promise<PriceBook> {
    const running = this.loads.get(organisationId);
    if (running !== undefined) return running;
    const { changes } = this;
    const load = this.read(organisationId, known)
      .then((book) => {
        if (changes === this.changes) this.entries.set(organisationId, { book, loadedAt: now });
        return book;
      })
      .finally(() => {
        if (this.loads.get(organisationId) === load) this.loads.delete(organisationId);
      });
    this.loads.set(organisationId, load);
    return load;
  }

  /** The known book, with what was looked up in it, where nothing has changed. */
  private async read(organisationId: string, known: PriceBook | undefined): Promise<PriceBook> {
    const rows = (await this.store.all(organisationId)).map(fromRow);
    const own = rows.filter((row) => row.organisationId !== null);
    const lists = [own, rows.filter((row) => row.organisationId === null), BUNDLED];
    return known?.isOf(lists) === true ? known : new PriceBook(lists);
  }
}

function after<Value>(milliseconds: number, value: Value): Promise<Value> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), milliseconds).unref();
  });
}
