import { beforeEach, describe, expect, it } from '@jest/globals';
import { Clock } from '../../common/time/clock.js';
import { PriceCatalogue } from './price-catalogue.js';
import type { PriceRow } from './price.entity.js';
import type { Price } from './price.types.js';

const ORGANISATION = 'org-1';
const START = Date.parse('2026-11-21T12:00:00Z');

class StoppedClock extends Clock {
  time = START;

  override now(): Date {
    return new Date(this.time);
  }
}

/** The prices that the catalogue reads, with a count; fails while the database is away. */
class FakeStore {
  rows: PriceRow[] = [];
  reads = 0;
  away = false;

  async all(): Promise<PriceRow[]> {
    this.reads += 1;
    if (this.away) throw new Error('the database is away');
    return this.rows;
  }

  // The catalogue uses none of these.
  create = unused;
  list = unused;
  find = unused;
}

async function unused(): Promise<never> {
  throw new Error('not used here');
}

function row(id: string, fields: Partial<PriceRow> = {}): PriceRow {
  return {
    id,
    organisationId: ORGANISATION,
    provider: 'cohere',
    model: 'rerank-v3.5',
    unit: 'search_unit',
    mode: 'standard',
    minInputTokens: 0,
    price: '0.001000000000000000',
    effectiveFrom: new Date(START - 1_000),
    source: 'api',
    createdBy: 'key-1',
    createdAt: new Date(START - 1_000),
    ...fields,
  };
}

let store: FakeStore;
let clock: StoppedClock;
let catalogue: PriceCatalogue;

beforeEach(() => {
  [store, clock] = [new FakeStore(), new StoppedClock()];
  // @ts-expect-error -- a store is a class with private fields; the catalogue uses what the fake has
  catalogue = new PriceCatalogue(store, clock);
});

function look(model = 'rerank-v3.5'): readonly Price[] | Promise<readonly Price[]> {
  return catalogue.pricesFor(ORGANISATION, 'cohere', model, clock.now());
}

async function pricesFound(): Promise<readonly bigint[]> {
  return (await look()).map(({ price }) => price);
}

/** Lets a read in the background finish. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('PriceCatalogue', () => {
  it("prefers the prices of the organisation to the operator's, and those to the bundled ones", async () => {
    expect(await pricesFound()).toEqual([2_000_000_000_000_000n]);
    store.rows = [row('operator', { organisationId: null, price: '0.003' })];
    catalogue.forget(ORGANISATION);
    expect(await pricesFound()).toEqual([3_000_000_000_000_000n]);
    store.rows = [row('own'), ...store.rows];
    catalogue.forget(ORGANISATION);
    expect(await pricesFound()).toEqual([1_000_000_000_000_000n]);
  });

  it('returns fresh prices at once, as the same object', async () => {
    const first = await look();
    expect(look()).toBe(first);
    clock.time += 999;
    expect(look()).toBe(first);
    expect(store.reads).toBe(1);
  });

  it('reads again in the background, while calls get the known prices', async () => {
    const first = await look();
    clock.time += 1_000;
    store.rows = [row('own')];
    expect(look()).toBe(first);
    expect(look()).toBe(first);
    await settled();
    expect(store.reads).toBe(2);
    expect(await pricesFound()).toEqual([1_000_000_000_000_000n]);
  });

  it('keeps its look-ups when nothing has changed', async () => {
    const first = await look();
    clock.time += 2_000;
    void look();
    await settled();
    expect([look() === first, store.reads]).toEqual([true, 2]);
  });

  it('waits for newer prices when the known ones are old', async () => {
    await look();
    clock.time += 5_000;
    store.rows = [row('own')];
    expect(await pricesFound()).toEqual([1_000_000_000_000_000n]);
  });

  it('keeps the last known prices while the database is away', async () => {
    store.rows = [row('own')];
    await look();
    store.away = true;
    for (const wait of [2_000, 10_000, 600_000]) {
      clock.time += wait;
      expect(await pricesFound()).toEqual([1_000_000_000_000_000n]);
    }
    store.away = false;
    store.rows = [row('newer', { price: '0.004' })];
    clock.time += 10_000;
    expect(await pricesFound()).toEqual([4_000_000_000_000_000n]);
  });

  it('fails when the prices were never read, and tries again at the next call', async () => {
    store.away = true;
    await expect(Promise.resolve(look())).rejects.toThrow('the database is away');
    store.away = false;
    expect(await pricesFound()).toEqual([2_000_000_000_000_000n]);
  });

  it('reads prices once for concurrent calls', async () => {
    await Promise.all([look(), look(), look('rerank-v4.0-pro')]);
    expect(store.reads).toBe(1);
  });

  it('discards a read that began before a change', async () => {
    const reading = look();
    catalogue.forget(ORGANISATION);
    store.rows = [row('own')];
    await reading;
    expect(await pricesFound()).toEqual([1_000_000_000_000_000n]);
  });
});
