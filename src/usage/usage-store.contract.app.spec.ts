import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../test/support/eventually.js';
import { memoryHarness } from './__fixtures__/memory-harness.js';
import { postgresHarness } from './__fixtures__/postgres-harness.js';
import type { StartedHarness, TestedStore } from './__fixtures__/store-harness.js';
import { chargeOf, cost, ORGANISATION, reservationOf, settledAs, settlementOf } from './__fixtures__/usage.js';
import { MAX_FIGURE } from './units.js';
import { MAX_COUNT } from './usage-work.js';
import {
  type Adjustment,
  type Charge,
  type Reservation,
  StoreUnavailableError,
  type UnlimitedUsage,
  type UsageFigures,
} from './usage-store.types.js';

const MAX_BUCKETS = 3;
const ADJUSTMENT: Adjustment = { organisationId: ORGANISATION, actorId: 'admin-1', reason: 'goodwill', at: new Date() };
const LEASE_OVER = (reservation: Reservation): Date => new Date(reservation.at.getTime() + reservation.leaseMs + 1);
const ALERTS = { threshold: 'usage_limit.threshold_reached', exhausted: 'usage_limit.exhausted' } as const;

// Another store is one more line here.
const HARNESSES = [memoryHarness, postgresHarness];

describe.each(HARNESSES)('the $name usage store', (harness) => {
  let started: StartedHarness;
  let tested: TestedStore;

  beforeAll(async () => {
    started = await harness.start();
  });

  afterAll(() => started.stop());

  beforeEach(async () => {
    tested = await started.open(MAX_BUCKETS);
  });

  afterEach(async () => {
    await tested.store.close();
    expect(await tested.drifting()).toEqual([]);
  });

  const admit = async (charges: readonly Charge[], facts: Partial<Reservation> = {}): Promise<Reservation> => {
    const reservation = reservationOf(charges, facts);
    expect((await tested.store.reserve(reservation)).kind).toBe('admitted');
    return reservation;
  };
  const spend = async (charge: Charge, amount: bigint): Promise<Reservation> => {
    const reservation = await admit([charge], { bound: cost(amount) });
    await tested.store.settle(settlementOf(reservation));
    return reservation;
  };
  const nothingWritten = async (): Promise<void> => {
    expect(await tested.ledger()).toEqual([]);
    expect(await tested.openReservations()).toBe(0);
    expect(await tested.alerts()).toEqual([]);
  };

  describe('admission', () => {
    it('reserves the expected amount in every bucket, and returns what is left', async () => {
      const [money, tokens] = [chargeOf(), chargeOf({ unit: 'tokens', limit: 5_000n })];
      const outcome = await tested.store.reserve(reservationOf([money, tokens], { bound: cost(10n, 700n) }));
      expect(outcome).toEqual({
        kind: 'admitted',
        buckets: [
          expect.objectContaining({ policyId: money.policyId, used: 0n, reserved: 10n, limit: 100n }),
          expect.objectContaining({ policyId: tokens.policyId, used: 0n, reserved: 700n, limit: 5_000n }),
        ],
      });
      expect(await tested.bucket(tokens)).toEqual({ used: 0n, reserved: 700n, epoch: 0 });
      expect(await tested.ledger()).toEqual([]);
    });

    it('admits calls exactly up to the limit', async () => {
      const charge = chargeOf();
      await spend(charge, 90n);
      await admit([charge]);
      expect(await tested.bucket(charge)).toEqual({ used: 90n, reserved: 10n, epoch: 0 });
    });

    it('refuses a call that would exceed the limit on its own', async () => {
      const charge = chargeOf();
      await spend(charge, 91n);
      expect(await tested.store.reserve(reservationOf([charge]))).toEqual({
        kind: 'exceeded',
        failing: [
          {
            policyId: charge.policyId,
            bucketHash: charge.bucketHash,
            windowId: charge.windowId,
            used: 91n,
            reserved: 0n,
            limit: 100n,
          },
        ],
      });
    });

    it('returns the same refusal to a repeated call, and admits one that still fits', async () => {
      const [open, full] = [chargeOf(), chargeOf()];
      await spend(full, 91n);
      const first = await tested.store.reserve(reservationOf([open, full]));
      for (let time = 0; time < 3; time += 1) {
        expect(await tested.store.reserve(reservationOf([open, full]))).toEqual(first);
      }
      await admit([open, full], { bound: cost(9n) });
    });

    it('reports that only calls in flight use up the room', async () => {
      const charge = chargeOf();
      await admit([charge], { bound: cost(95n) });
      expect((await tested.store.reserve(reservationOf([charge]))).kind).toBe('contended');
    });

    it('reserves all or nothing: a refusal by one bucket leaves no trace in the others', async () => {
      const [open, full, alsoFull] = [chargeOf(), chargeOf({ limit: 9n }), chargeOf({ limit: 0n })];
      const outcome = await tested.store.reserve(reservationOf([open, full, alsoFull]));
      expect(outcome).toMatchObject({ kind: 'exceeded', failing: [{ limit: 9n }, { limit: 0n }] });
      expect(await Promise.all([open, full, alsoFull].map((charge) => tested.bucket(charge)))).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
      await nothingWritten();
    });

    it('admits a call without any charge', async () => {
      const reservation = await admit([]);
      await tested.store.settle(settlementOf(reservation));
      expect(await tested.ledger()).toEqual([expect.objectContaining({ id: reservation.id, amounts: [] })]);
    });

    it.each([
      ['0', 0n, 'exceeded'],
      ['a millionth of a dollar', 1_000n, 'admitted'],
      ['a million million dollars', 10n ** 21n, 'admitted'],
    ])('enforces a limit of %s', async (_what, limit, kind) => {
      expect((await tested.store.reserve(reservationOf([chargeOf({ limit })]))).kind).toBe(kind);
    });

    it('admits a free call under a used-up limit', async () => {
      const charge = chargeOf({ limit: 0n });
      const reservation = await admit([charge], { bound: cost(0n) });
      await tested.store.settle(settlementOf(reservation));
      expect(await tested.alerts()).toEqual([]);
    });

    it('admits a free call under an exceeded limit, and under others that calls in flight fill', async () => {
      const [exceeded, filled] = [chargeOf(), chargeOf({ limit: 10n })];
      await spend(exceeded, 100n);
      const lowered = { ...exceeded, limit: 50n };
      expect((await tested.store.reserve(reservationOf([lowered]))).kind).toBe('exceeded');
      await admit([filled], { bound: cost(10n) });
      await admit([lowered, { ...filled, limit: 5n }], { bound: cost(0n) });
    });

    it('only counts for a policy that only monitors', async () => {
      const charge = chargeOf({ enforced: false, limit: 5n });
      const reservation = await admit([charge]);
      await tested.store.settle(settlementOf(reservation));
      await admit([charge]);
      expect(await tested.bucket(charge)).toEqual({ used: 10n, reserved: 10n, epoch: 0 });
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it('uses the current limit: lowered, it refuses; raised after exhaustion, it admits', async () => {
      const charge = chargeOf();
      await spend(charge, 60n);
      expect((await tested.store.reserve(reservationOf([{ ...charge, limit: 50n }]))).kind).toBe('exceeded');
      await spend(charge, 40n);
      expect((await tested.store.reserve(reservationOf([charge]))).kind).toBe('exceeded');
      await admit([{ ...charge, limit: 200n }]);
    });

    it('counts each window by itself', async () => {
      const november = chargeOf();
      await spend(november, 100n);
      await admit([{ ...november, windowId: '2026-12' }]);
      expect(await tested.bucket({ ...november, windowId: '2026-12' })).toMatchObject({ used: 0n, reserved: 10n });
    });

    it('refuses figures that no counter can hold', async () => {
      const absurd = reservationOf([chargeOf()], { bound: cost(10n ** 16n) });
      await expect(tested.store.reserve(absurd)).rejects.toThrow(RangeError);
      await expect(tested.store.reserve({ ...absurd, bound: cost(-1n) })).rejects.toThrow(RangeError);
      await nothingWritten();
    });
  });

  describe('200 callers at once', () => {
    it('never spends more than the limit under 200 concurrent callers, and uses it up', async () => {
      const charges = [chargeOf({ limit: 1_000n }), chargeOf({ limit: 1_500n }), chargeOf({ limit: 2_000n })];
      const reservations = Array.from({ length: 200 }, () => reservationOf(charges));
      const outcomes = await Promise.all(reservations.map((reservation) => tested.store.reserve(reservation)));
      const admitted = reservations.filter((_, index) => outcomes[index]?.kind === 'admitted');
      expect(admitted).toHaveLength(100);
      expect(new Set(outcomes.map(({ kind }) => kind))).toEqual(new Set(['admitted', 'contended']));
      await Promise.all(admitted.map((reservation) => tested.store.settle(settlementOf(reservation))));
      for (const charge of charges)
        expect(await tested.bucket(charge)).toEqual({ used: 1_000n, reserved: 0n, epoch: 0 });
      expect((await tested.ledger()).map(({ id }) => id).sort()).toEqual(admitted.map(({ id }) => id).sort());
    });

    it('raises each alert once under 200 concurrent callers', async () => {
      const charge = chargeOf({ limit: 1_000n, threshold: 500n });
      const calls = Array.from({ length: 200 }, async () => {
        const reservation = reservationOf([charge]);
        const { kind } = await tested.store.reserve(reservation);
        if (kind === 'admitted') await tested.store.settle(settlementOf(reservation));
      });
      await Promise.all(calls);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.threshold]);
    });
  });

  describe('settlement', () => {
    it('charges the true amount, each bucket in its unit', async () => {
      const [money, tokens] = [chargeOf(), chargeOf({ unit: 'tokens', limit: 5_000n })];
      const reservation = await admit([money, tokens], { bound: cost(10n, 700n) });
      await tested.store.settle(settlementOf(reservation, { figures: cost(7n, 650n) }));
      expect(await tested.bucket(money)).toEqual({ used: 7n, reserved: 0n, epoch: 0 });
      expect(await tested.bucket(tokens)).toEqual({ used: 650n, reserved: 0n, epoch: 0 });
      expect(await tested.ledger()).toEqual([
        { id: reservation.id, costNano: 7n, tokens: 650n, source: 'provider', amounts: [7n, 650n] },
      ]);
    });

    it('charges more than was expected, and more than the limit', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge], { bound: cost(100n) });
      await tested.store.settle(settlementOf(reservation, { figures: cost(130n) }));
      expect(await tested.bucket(charge)).toEqual({ used: 130n, reserved: 0n, epoch: 0 });
    });

    it('charges the window that admitted the call', async () => {
      const november = chargeOf();
      const before = await admit([november]);
      await admit([{ ...november, windowId: '2026-12' }]);
      await tested.store.settle(settlementOf(before));
      expect(await tested.bucket(november)).toMatchObject({ used: 10n, reserved: 0n });
      expect(await tested.bucket({ ...november, windowId: '2026-12' })).toMatchObject({ used: 0n, reserved: 10n });
    });

    it('frees room for the next call at once after a settlement', async () => {
      const charge = chargeOf();
      const first = await admit([charge], { bound: cost(100n) });
      const [, outcome] = await Promise.all([
        tested.store.settle(settlementOf(first, { figures: cost(1n) })),
        tested.store.reserve(reservationOf([charge])),
      ]);
      expect(outcome.kind).toBe('admitted');
    });

    it('charges a reservation that the store has lost', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge]);
      await tested.lose(reservation.id);
      await tested.store.settle(settlementOf(reservation, { figures: cost(12n) }));
      await tested.store.settle(settlementOf(reservation, { figures: cost(12n) }));
      expect(await tested.bucket(charge)).toEqual({ used: 12n, reserved: 0n, epoch: 0 });
      expect(await tested.ledger()).toHaveLength(1);
    });

    it('charges a lost reservation of a new bucket, and makes the bucket', async () => {
      const charges = [chargeOf(), chargeOf()];
      await tested.store.settle(settlementOf(reservationOf(charges)));
      for (const charge of charges) expect(await tested.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
    });
  });

  describe('a repeated', () => {
    it('admits a repeated reservation once', async () => {
      const charge = chargeOf({ limit: 10n });
      const reservation = await admit([charge]);
      expect((await tested.store.reserve(reservation)).kind).toBe('admitted');
      expect(await tested.bucket(charge)).toEqual({ used: 0n, reserved: 10n, epoch: 0 });
      await tested.store.settle(settlementOf(reservation));
      expect((await tested.store.reserve(reservation)).kind).toBe('admitted');
      expect(await tested.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
      expect(await tested.openReservations()).toBe(0);
    });

    it('admits a repeated concurrent reservation once', async () => {
      const charge = chargeOf();
      const reservation = reservationOf([charge]);
      const outcomes = await Promise.all([tested.store.reserve(reservation), tested.store.reserve(reservation)]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['admitted', 'admitted']);
      expect(await tested.bucket(charge)).toEqual({ used: 0n, reserved: 10n, epoch: 0 });
    });

    it('charges a repeated settlement once, whatever its second amount is', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge]);
      await tested.store.settle(settlementOf(reservation));
      await tested.store.settle(settlementOf(reservation));
      await tested.store.settle(settlementOf(reservation, { figures: cost(50n) }));
      await tested.store.settle(settlementOf(reservation, { source: 'presumed', outcome: 'unknown' }));
      await tested.store.release(reservation.id, reservation.at);
      expect(await tested.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
      expect(await tested.ledger()).toEqual([expect.objectContaining({ source: 'provider', costNano: 10n })]);
    });

    it('changes nothing on a repeated release or record', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge]);
      await tested.store.release(reservation.id, reservation.at);
      await tested.store.release(reservation.id, reservation.at);
      expect(await tested.bucket(charge)).toBeUndefined();
      await nothingWritten();
      const { id, at, dimensions } = reservationOf([]);
      const usage = { id, at, dimensions, ...settledAs(cost(3n)), source: 'provider' } as const;
      tested.store.record(usage);
      tested.store.record(usage);
      await eventually(async () => (await tested.ledger()).length > 0);
      expect(await tested.ledger()).toEqual([{ id, costNano: 3n, tokens: 0n, source: 'provider', amounts: [] }]);
    });
  });

  describe('an extension', () => {
    const extend = (reservation: Reservation, bound: UsageFigures, at = new Date(reservation.at.getTime() + 120_000)) =>
      tested.store.extend({ reservation, bound, expiresAt: at });

    it('extends a reservation up to the new bound, once however often the extension is sent', async () => {
      const [money, tokens] = [chargeOf(), chargeOf({ unit: 'tokens', limit: 1_000n })];
      const reservation = await admit([money, tokens], { bound: cost(10n, 100n) });
      for (let times = 0; times < 2; times += 1) {
        expect(await extend(reservation, cost(60n, 900n))).toMatchObject({
          kind: 'admitted',
          buckets: [{ reserved: 60n }, { reserved: 900n }],
        });
      }
      await tested.store.settle(settlementOf(reservation, { figures: cost(50n, 650n) }));
      expect(await tested.bucket(money)).toMatchObject({ used: 50n, reserved: 0n });
      expect(await tested.bucket(tokens)).toMatchObject({ used: 650n, reserved: 0n });
    });

    it('never lowers a reservation with an extension', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge], { bound: cost(10n) });
      expect((await extend(reservation, cost(3n))).kind).toBe('admitted');
      expect(await tested.bucket(charge)).toMatchObject({ reserved: 10n });
    });

    it('extends a reservation in all of its buckets or in none', async () => {
      const [roomy, full] = [chargeOf({ limit: 1_000n }), chargeOf()];
      const reservation = await admit([roomy, full], { bound: cost(10n) });
      const other = await admit([full], { bound: cost(60n) });
      const refused = await extend(reservation, cost(50n));
      expect([refused.kind, refused.kind === 'contended' && refused.failing.map(({ policyId }) => policyId)]).toEqual([
        'contended',
        [full.policyId],
      ]);
      expect(await tested.bucket(roomy)).toMatchObject({ reserved: 10n });
      await tested.store.settle(settlementOf(other, { figures: cost(60n) }));
      expect((await extend(reservation, cost(50n))).kind).toBe('exceeded');
      expect((await extend(reservation, cost(40n))).kind).toBe('admitted');
      expect(await tested.bucket(full)).toMatchObject({ used: 60n, reserved: 40n });
    });

    it('renews the lease with an extension, also when the bound does not fit', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge], { bound: cost(10n) });
      expect((await extend(reservation, cost(101n))).kind).toBe('exceeded');
      expect(await tested.store.reap(LEASE_OVER(reservation))).toBe(0);
      expect(await tested.store.reap(new Date(reservation.at.getTime() + 120_001))).toBe(1);
      expect(await tested.bucket(charge)).toMatchObject({ used: 10n, reserved: 0n });
    });

    it('presumes the extended bound spent when the gateway dies', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge], { bound: cost(10n) });
      await extend(reservation, cost(30n), reservation.at);
      expect(await tested.store.reap(LEASE_OVER(reservation))).toBe(1);
      expect(await tested.bucket(charge)).toMatchObject({ used: 30n, reserved: 0n });
      expect(await tested.ledger()).toMatchObject([{ costNano: 30n, source: 'presumed', amounts: [30n] }]);
    });

    it('reserves nothing for the extension of a reservation that is not open', async () => {
      const charge = chargeOf();
      const [settled, released] = [await admit([charge]), await admit([charge])];
      await tested.store.settle(settlementOf(settled));
      await tested.store.release(released.id, released.at);
      for (const over of [settled, released, reservationOf([charge])]) {
        expect(await extend(over, cost(20n))).toEqual({ kind: 'gone', failing: [] });
      }
      expect(await tested.bucket(charge)).toMatchObject({ used: 10n, reserved: 0n });
    });

    it('extends beyond limits that only monitor, and counts there', async () => {
      const charge = chargeOf({ enforced: false });
      const reservation = await admit([charge], { bound: cost(10n) });
      expect((await extend(reservation, cost(500n))).kind).toBe('admitted');
      expect(await tested.bucket(charge)).toMatchObject({ reserved: 500n });
    });

    it('never exceeds a limit with concurrent extensions', async () => {
      const charge = chargeOf();
      const calls = await Promise.all(Array.from({ length: 10 }, () => admit([charge], { bound: cost(5n) })));
      const outcomes = await Promise.all(calls.map((call) => extend(call, cost(20n))));
      expect(outcomes.filter(({ kind }) => kind === 'admitted')).toHaveLength(3);
      expect(await tested.bucket(charge)).toMatchObject({ used: 0n, reserved: 95n });
    });

    it('is prolonged without a change of what it holds', async () => {
      const charge = chargeOf();
      const [reservation, settled] = [await admit([charge]), await admit([charge])];
      await tested.store.settle(settlementOf(settled));
      const expiresAt = new Date(reservation.at.getTime() + 3_600_000);
      await extend(reservation, cost(60n));
      for (const { id } of [reservation, settled, reservationOf([charge])]) await tested.store.prolong(id, expiresAt);
      await tested.store.prolong(reservation.id, reservation.at);
      expect(await tested.store.reap(new Date(expiresAt.getTime() - 1))).toBe(0);
      expect(await tested.bucket(charge)).toMatchObject({ used: 10n, reserved: 60n });
      await tested.store.retract({ id: reservation.id, bound: cost(60n), to: cost(10n) });
      expect(await tested.bucket(charge)).toMatchObject({ used: 10n, reserved: 10n });
      expect(await tested.store.reap(new Date(expiresAt.getTime() + 1))).toBe(1);
    });

    it('is taken back where it was for nothing, once however often that is sent', async () => {
      const [money, tokens] = [chargeOf(), chargeOf({ unit: 'tokens', limit: 1_000n })];
      const [before, after] = [cost(10n, 100n), cost(60n, 900n)];
      const reservation = await admit([money, tokens], { bound: before });
      await extend(reservation, after);
      for (let times = 0; times < 2; times += 1) {
        await tested.store.retract({ id: reservation.id, bound: after, to: before });
        expect(await tested.bucket(money)).toMatchObject({ used: 0n, reserved: 10n });
        expect(await tested.bucket(tokens)).toMatchObject({ used: 0n, reserved: 100n });
      }
      expect(await tested.store.reap(new Date(reservation.at.getTime() + 120_001))).toBe(1);
      expect(await tested.bucket(money)).toMatchObject({ used: 10n, reserved: 0n });
      expect(await tested.ledger()).toMatchObject([{ costNano: 10n, source: 'presumed' }]);
    });

    it('is not taken back where another one followed, or the reservation is over', async () => {
      const charge = chargeOf();
      const [longer, settled] = [
        await admit([charge], { bound: cost(10n) }),
        await admit([charge], { bound: cost(10n) }),
      ];
      for (const bound of [cost(20n), cost(30n)]) await extend(longer, bound);
      await extend(settled, cost(20n));
      await tested.store.settle(settlementOf(settled, { figures: cost(15n) }));
      for (const { id } of [longer, settled]) await tested.store.retract({ id, bound: cost(20n), to: cost(10n) });
      expect(await tested.bucket(charge)).toMatchObject({ used: 15n, reserved: 30n });
    });

    it('refuses an extension to a bound that cannot be counted', async () => {
      const reservation = await admit([chargeOf()]);
      await expect(extend(reservation, cost(10n ** 16n))).rejects.toThrow(RangeError);
    });
  });

  it('records no usage that cannot be counted, and records the next one', async () => {
    const note = (costNano: bigint): UnlimitedUsage => {
      const { id, at, dimensions } = reservationOf([]);
      return { id, at, dimensions, ...settledAs(cost(costNano)) };
    };
    for (const costNano of [-1n, MAX_FIGURE + 1n, 3n]) tested.store.record(note(costNano));
    await eventually(async () => (await tested.ledger()).length > 0);
    expect(await tested.ledger()).toEqual([expect.objectContaining({ costNano: 3n })]);
  });

  describe('a release of what is not known', () => {
    it('refuses a reservation that was released before it arrived', async () => {
      const charge = chargeOf();
      const reservation = reservationOf([charge]);
      await tested.store.release(reservation.id, reservation.at);
      await tested.store.release(reservation.id, reservation.at);
      await expect(tested.store.reserve(reservation)).rejects.toThrow(StoreUnavailableError);
      expect(await tested.bucket(charge)).toBeUndefined();
      await nothingWritten();
      await admit([charge]);
    });

    it('admits the others of the batch beside an unknown release', async () => {
      const charge = chargeOf();
      const [released, ...others] = Array.from({ length: 5 }, () => reservationOf([charge]));
      if (released === undefined) throw new Error('there are five');
      await tested.store.release(released.id, released.at);
      const outcomes = await Promise.allSettled([released, ...others].map((one) => tested.store.reserve(one)));
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', ...others.map(() => 'fulfilled')]);
      expect(await tested.bucket(charge)).toEqual({ used: 0n, reserved: 40n, epoch: 0 });
    });

    it('forgets an unknown release after the time of a lease, and never counts it as a call', async () => {
      const reservation = reservationOf([chargeOf()], { at: new Date() });
      await tested.store.release(reservation.id, reservation.at);
      const now = tested.clock.now().getTime();
      expect(await tested.store.reap(new Date(now + 60_000))).toBe(0);
      await expect(tested.store.reserve(reservation)).rejects.toThrow(StoreUnavailableError);
      expect(await tested.store.reap(new Date(now + 3_600_000))).toBe(0);
      await nothingWritten();
      expect((await tested.store.reserve(reservation)).kind).toBe('admitted');
    });

    it('charges a settlement of a call that was released before it arrived', async () => {
      const charge = chargeOf();
      const reservation = reservationOf([charge]);
      await tested.store.release(reservation.id, reservation.at);
      await tested.store.settle(settlementOf(reservation));
      expect(await tested.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
      expect(await tested.ledger()).toHaveLength(1);
    });
  });

  describe('a reservation whose gateway died', () => {
    it("charges the expected amount of a dead gateway's reservation, marked as presumed", async () => {
      const charge = chargeOf();
      const reservation = await admit([charge]);
      expect(await tested.store.reap(reservation.at)).toBe(0);
      expect(await tested.store.reap(LEASE_OVER(reservation))).toBe(1);
      expect(await tested.store.reap(LEASE_OVER(reservation))).toBe(0);
      expect(await tested.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
      expect(await tested.ledger()).toEqual([expect.objectContaining({ source: 'presumed', amounts: [10n] })]);
    });

    it.each([3n, 10n, 25n])('corrects a presumed amount when the true one, %s, arrives late', async (truth) => {
      const charge = chargeOf();
      const reservation = await admit([charge]);
      await tested.store.reap(LEASE_OVER(reservation));
      const late = settlementOf(reservation, { figures: cost(truth) });
      await tested.store.settle(late);
      await tested.store.settle(late);
      expect(await tested.bucket(charge)).toEqual({ used: truth, reserved: 0n, epoch: 0 });
      expect(await tested.ledger()).toEqual([
        expect.objectContaining({ source: 'provider', costNano: truth, amounts: [truth] }),
      ]);
    });

    it('removes a presumed charge when nothing was sent', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge]);
      await tested.store.reap(LEASE_OVER(reservation));
      await tested.store.release(reservation.id, reservation.at);
      expect(await tested.bucket(charge)).toEqual({ used: 0n, reserved: 0n, epoch: 0 });
      expect(await tested.ledger()).toEqual([]);
    });

    it('does not lower the usage since a reset with a late correction', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge]);
      await tested.store.reap(LEASE_OVER(reservation));
      await tested.store.reset(charge, ADJUSTMENT);
      await spend(charge, 5n);
      await tested.store.settle(settlementOf(reservation, { figures: cost(2n) }));
      expect(await tested.bucket(charge)).toEqual({ used: 5n, reserved: 0n, epoch: 1 });
      expect(await tested.adjustments()).toEqual([-10n, 8n]);
    });
  });

  describe('a reset', () => {
    it('resets usage to zero by an adjustment, keeps calls in flight reserved, and charges them afterwards', async () => {
      const charge = chargeOf();
      await spend(charge, 60n);
      const open = await admit([charge]);
      expect(await tested.store.reset(charge, ADJUSTMENT)).toBe(true);
      expect(await tested.bucket(charge)).toEqual({ used: 0n, reserved: 10n, epoch: 1 });
      expect(await tested.adjustments()).toEqual([-60n]);
      expect(await tested.ledger()).toHaveLength(1);
      await tested.store.settle(settlementOf(open));
      expect(await tested.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 1 });
    });

    it('raises alerts again after a reset', async () => {
      const charge = chargeOf({ threshold: 50n });
      await spend(charge, 60n);
      await tested.store.reset(charge, ADJUSTMENT);
      await spend(charge, 60n);
      expect(await tested.alerts()).toEqual(['usage_limit.reset', ALERTS.threshold, ALERTS.threshold]);
    });

    it('admits a call at once after a reset that was refused before it', async () => {
      const charge = chargeOf();
      await spend(charge, 100n);
      for (let time = 0; time < 2; time += 1) {
        expect((await tested.store.reserve(reservationOf([charge]))).kind).toBe('exceeded');
      }
      await tested.store.reset(charge, ADJUSTMENT);
      await admit([charge]);
    });

    it('finds no bucket that was never used for a reset', async () => {
      expect(await tested.store.reset(chargeOf(), ADJUSTMENT)).toBe(false);
    });
  });

  describe('the deletion of a bucket', () => {
    it('deletes a bucket, keeps its calls in the ledger, and lets its group start from nothing', async () => {
      const charge = chargeOf();
      await spend(charge, 100n);
      expect(await tested.store.deleteBucket(charge, ORGANISATION)).toBe('deleted');
      expect(await tested.bucket(charge)).toBeUndefined();
      expect(await tested.ledger()).toHaveLength(1);
      await spend(charge, 40n);
      expect(await tested.bucket(charge)).toEqual({ used: 40n, reserved: 0n, epoch: 0 });
    });

    it('keeps a bucket in which calls in flight are reserved', async () => {
      const charge = chargeOf();
      const open = await admit([charge]);
      expect(await tested.store.deleteBucket(charge, ORGANISATION)).toBe('in_use');
      await tested.store.settle(settlementOf(open));
      expect(await tested.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
      expect(await tested.store.deleteBucket(charge, ORGANISATION)).toBe('deleted');
    });

    it('finds no bucket of another organisation to delete, and none that was never used', async () => {
      const charge = chargeOf();
      await spend(charge, 10n);
      expect(await tested.store.deleteBucket(charge, randomUUID())).toBe('missing');
      expect(await tested.store.deleteBucket(chargeOf(), ORGANISATION)).toBe('missing');
      expect(await tested.bucket(charge)).toBeDefined();
    });

    it('makes room for another group, whichever bucket of the policy was deleted', async () => {
      const charge = chargeOf();
      const groups = Array.from({ length: 3 * MAX_BUCKETS }, (_, group) => ({ ...charge, bucketHash: `${group}` }));
      for (const one of groups.slice(0, MAX_BUCKETS)) await spend(one, 1n);
      for (const [place, next] of groups.slice(MAX_BUCKETS).entries()) {
        expect((await tested.store.reserve(reservationOf([next]))).kind).toBe('crowded');
        const deleted = groups[place] ?? charge;
        expect(await tested.store.deleteBucket(deleted, ORGANISATION)).toBe('deleted');
        await spend(next, 1n);
      }
    });

    it('leaves the other buckets of a call as they are when the truth about the call comes after the deletion', async () => {
      const [deleted, kept] = [chargeOf(), chargeOf()];
      const reservation = await admit([deleted, kept]);
      await tested.store.reap(LEASE_OVER(reservation));
      await tested.store.deleteBucket(deleted, ORGANISATION);
      await tested.store.settle(settlementOf(reservation, { figures: cost(2n) }));
      expect(await tested.bucket(kept)).toEqual({ used: 2n, reserved: 0n, epoch: 0 });
      expect(await tested.bucket(deleted)).toBeUndefined();
    });
  });

  describe('calls that cost nothing', () => {
    it('make no bucket that counts costs, and one that counts tokens', async () => {
      const [money, tokens] = [chargeOf(), chargeOf({ unit: 'tokens', limit: 1_000n })];
      const free = await admit([money, tokens], { bound: cost(0n, 500n) });
      expect([await tested.bucket(money), (await tested.bucket(tokens))?.reserved]).toEqual([undefined, 500n]);
      await tested.store.settle(settlementOf(free, { figures: cost(0n, 300n) }));
      expect(await tested.bucket(tokens)).toEqual({ used: 300n, reserved: 0n, epoch: 0 });
      expect(await tested.ledger()).toHaveLength(1);
    });

    it('are in the ledger also when all of their policies count costs', async () => {
      const charge = chargeOf();
      const free = await admit([charge], { bound: cost(0n) });
      await tested.store.settle(settlementOf(free));
      expect(await tested.ledger()).toEqual([expect.objectContaining({ id: free.id, costNano: 0n, amounts: [] })]);
      expect(await tested.openReservations()).toBe(0);
    });

    it('are counted in a bucket that other calls have made', async () => {
      const charge = chargeOf();
      await spend(charge, 10n);
      const free = await admit([charge], { bound: cost(0n) });
      await tested.store.settle(settlementOf(free));
      expect((await tested.ledger()).map(({ amounts }) => amounts)).toEqual([[10n], [0n]]);
    });

    it('are admitted where a policy has all the groups that it may have', async () => {
      const charge = chargeOf();
      for (let group = 0; group < MAX_BUCKETS; group += 1) await spend({ ...charge, bucketHash: `${group}` }, 1n);
      await admit([charge], { bound: cost(0n) });
      expect((await tested.store.reserve(reservationOf([charge]))).kind).toBe('crowded');
    });

    it.each(['cost', 'tokens'] as const)('leave no bucket of %s behind that was made for them', async (unit) => {
      const charge = chargeOf({ unit });
      const refused = await admit([charge], { bound: cost(10n, 10n) });
      expect(await tested.bucket(charge)).toMatchObject({ reserved: 10n });
      await tested.store.settle(settlementOf(refused, { figures: cost(0n) }));
      expect(await tested.bucket(charge)).toBeUndefined();
      const unsent = await admit([charge], { bound: cost(10n, 10n) });
      await tested.store.release(unsent.id, unsent.at);
      expect([await tested.bucket(charge), await tested.openReservations()]).toEqual([undefined, 0]);
      expect(await tested.ledger()).toEqual([expect.objectContaining({ id: refused.id, amounts: [0n] })]);
    });

    it('leave a bucket that holds a call in flight, was charged, or was reset', async () => {
      const [held, charged, reset] = [chargeOf(), chargeOf(), chargeOf()];
      const other = await admit([held]);
      const refused = [await admit([held, charged]), await admit([reset])];
      await spend(charged, 1n);
      await tested.store.reset(reset, ADJUSTMENT);
      for (const call of refused) await tested.store.settle(settlementOf(call, { figures: cost(0n) }));
      expect(await tested.bucket(held)).toEqual({ used: 0n, reserved: 10n, epoch: 0 });
      expect(await tested.bucket(charged)).toEqual({ used: 1n, reserved: 0n, epoch: 0 });
      expect(await tested.bucket(reset)).toEqual({ used: 0n, reserved: 0n, epoch: 1 });
      await tested.store.settle(settlementOf(other));
      expect(await tested.bucket(held)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
    });

    it('leave the bucket of a free call that is in flight', async () => {
      const charge = chargeOf();
      const refused = await admit([charge]);
      const free = await admit([charge], { bound: cost(0n) });
      await tested.store.settle(settlementOf(refused, { figures: cost(0n) }));
      await tested.store.settle(settlementOf(free, { figures: cost(3n) }));
      expect(await tested.bucket(charge)).toEqual({ used: 3n, reserved: 0n, epoch: 0 });
    });

    it('give back their places among the groups that a policy may have', async () => {
      const charge = chargeOf();
      const group = (number: number): Charge => ({ ...charge, bucketHash: `${number}` });
      const calls: Reservation[] = [];
      for (let number = 0; number < MAX_BUCKETS; number += 1) calls.push(await admit([group(number)]));
      for (const call of calls.slice(1)) await tested.store.settle(settlementOf(call, { figures: cost(0n) }));
      for (let number = 1; number < MAX_BUCKETS; number += 1) await spend(group(number + MAX_BUCKETS), 1n);
      expect((await tested.store.reserve(reservationOf([charge]))).kind).toBe('crowded');
    });

    it('make no bucket when the store has lost their reservation', async () => {
      const charge = chargeOf();
      const free = await admit([charge], { bound: cost(0n) });
      await tested.lose(free.id);
      await tested.store.settle(settlementOf(free));
      expect(await tested.bucket(charge)).toBeUndefined();
      expect(await tested.ledger()).toHaveLength(1);
    });
  });

  describe('alerts', () => {
    it('raises an alert by the settlement that reaches the line, not by the reservation', async () => {
      const charge = chargeOf({ threshold: 10n });
      const reservation = await admit([charge]);
      expect(await tested.alerts()).toEqual([]);
      await tested.store.settle(settlementOf(reservation));
      await tested.store.settle(settlementOf(reservation));
      await spend(charge, 20n);
      expect(await tested.alerts()).toEqual([ALERTS.threshold]);
    });

    it('raises both alerts for one call that crosses both lines', async () => {
      await spend(chargeOf({ threshold: 50n }), 100n);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.threshold]);
    });

    it('raises an alert once when a correction lowers the usage and it grows again', async () => {
      const charge = chargeOf({ threshold: 10n });
      const reservation = await admit([charge]);
      await tested.store.reap(LEASE_OVER(reservation));
      await tested.store.settle(settlementOf(reservation, { figures: cost(1n) }));
      await spend(charge, 20n);
      expect(await tested.alerts()).toEqual([ALERTS.threshold]);
    });

    it('raises one alert when a policy has nine tenths of its groups, once in each window', async () => {
      const charge = chargeOf({ limit: 1_000n });
      const group = (number: number, windowId = charge.windowId): Charge => ({
        ...charge,
        windowId,
        bucketHash: `${number}`,
      });
      for (let number = 1; number < MAX_BUCKETS; number += 1) await spend(group(number), 1n);
      expect(await tested.alerts()).toEqual([]);
      await spend(group(MAX_BUCKETS), 1n);
      await tested.store.deleteBucket(group(1), ORGANISATION);
      await spend(group(1), 1n);
      expect(await tested.alerts()).toEqual(['usage_limit.groups_nearly_full']);
      for (let number = 1; number <= MAX_BUCKETS; number += 1) await spend(group(number, '2026-12'), 1n);
      expect(await tested.alerts()).toHaveLength(2);
    });

    it('raises alerts again for a raised limit', async () => {
      const charge = chargeOf();
      await spend(charge, 100n);
      await spend({ ...charge, limit: 150n }, 50n);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.exhausted]);
    });
  });

  describe('exhaustion', () => {
    const refuse = async (charge: Charge, amount: bigint, times = 1): Promise<void> => {
      for (let time = 0; time < times; time += 1) {
        const { kind } = await tested.store.reserve(reservationOf([charge], { bound: cost(amount) }));
        expect(kind).toBe('exceeded');
      }
    };
    /** Three calls of 30, and a fourth that does not fit under 100. */
    const useUp = async (charge: Charge): Promise<void> => {
      for (let call = 0; call < 3; call += 1) await spend(charge, 30n);
      expect(await tested.isExhausted(charge)).toBe(false);
      await refuse(charge, 30n);
    };

    it('reports exhaustion once, though no call hits the limit exactly', async () => {
      const charge = chargeOf();
      await useUp(charge);
      await refuse(charge, 30n, 3);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
      expect(await tested.isExhausted(charge)).toBe(true);
      expect(await tested.bucket(charge)).toEqual({ used: 90n, reserved: 0n, epoch: 0 });
    });

    it('reports exhaustion once when a call hits the limit exactly, whatever is refused afterwards', async () => {
      const charge = chargeOf();
      await spend(charge, 100n);
      expect(await tested.isExhausted(charge)).toBe(true);
      await refuse(charge, 30n, 2);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it('reports exhaustion once under many concurrent refusals', async () => {
      const charge = chargeOf();
      await spend(charge, 90n);
      const calls = Array.from({ length: 50 }, () => reservationOf([charge], { bound: cost(30n) }));
      await Promise.all(calls.map((call) => tested.store.reserve(call)));
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it('reports no exhaustion for one call that is too large for an unused bucket', async () => {
      const charge = chargeOf();
      await refuse(charge, 101n);
      expect(await tested.bucket(charge)).toBeUndefined();
      await admit([charge]);
      await refuse(charge, 101n);
      expect(await tested.isExhausted(charge)).toBe(false);
      expect(await tested.alerts()).toEqual([]);
    });

    it('reports no exhaustion for one call that is larger than the whole limit, and reports the true one later', async () => {
      const charge = chargeOf();
      await spend(charge, 1n);
      await refuse(charge, 101n);
      expect(await tested.isExhausted(charge)).toBe(false);
      expect(await tested.alerts()).toEqual([]);
      await spend(charge, 99n);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it.each([5n, 0n])('reports exhaustion of a limit that was lowered to less than one call: %d', async (limit) => {
      const charge = chargeOf();
      await spend(charge, 30n);
      await refuse({ ...charge, limit }, 10n, 2);
      expect(await tested.isExhausted(charge)).toBe(true);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it('reports no exhaustion when only calls in flight use up the room', async () => {
      const charge = chargeOf();
      await spend(charge, 50n);
      await admit([charge], { bound: cost(50n) });
      expect((await tested.store.reserve(reservationOf([charge]))).kind).toBe('contended');
      expect(await tested.isExhausted(charge)).toBe(false);
      expect(await tested.alerts()).toEqual([]);
    });

    it('reports exhaustion only of the bucket that refuses', async () => {
      const [roomy, full] = [chargeOf(), chargeOf()];
      await spend(roomy, 10n);
      await spend(full, 90n);
      expect((await tested.store.reserve(reservationOf([roomy, full], { bound: cost(30n) }))).kind).toBe('exceeded');
      expect([await tested.isExhausted(roomy), await tested.isExhausted(full)]).toEqual([false, true]);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it('reports no exhaustion of a policy that only monitors, before its limit is reached', async () => {
      const [watching, full] = [chargeOf({ enforced: false }), chargeOf()];
      await spend(watching, 90n);
      await spend(full, 90n);
      expect((await tested.store.reserve(reservationOf([watching, full], { bound: cost(30n) }))).kind).toBe('exceeded');
      expect([await tested.isExhausted(watching), await tested.isExhausted(full)]).toEqual([false, true]);
      await spend(watching, 30n);
      expect(await tested.isExhausted(watching)).toBe(true);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.exhausted]);
    });

    it('ends exhaustion with a reset, and reports it again after it', async () => {
      const charge = chargeOf();
      await useUp(charge);
      await tested.store.reset(charge, ADJUSTMENT);
      expect(await tested.isExhausted(charge)).toBe(false);
      await useUp(charge);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.exhausted, 'usage_limit.reset']);
    });

    it('ends exhaustion with a raise of the limit, and reports it again at the higher one', async () => {
      const charge = chargeOf();
      await useUp(charge);
      const raised = { ...charge, limit: 190n };
      await spend(raised, 30n);
      expect(await tested.isExhausted(charge)).toBe(false);
      await refuse(raised, 100n, 2);
      expect(await tested.isExhausted(charge)).toBe(true);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.exhausted]);
    });

    it('reports exhaustion again with the first call that is refused under a higher limit', async () => {
      const charge = chargeOf();
      await useUp(charge);
      // A refusal that is remembered from before the raise reports nothing, for as long as it is remembered.
      await eventually(async () => {
        await refuse({ ...charge, limit: 110n }, 30n, 2);
        return (await tested.alerts()).length === 2;
      });
      expect(await tested.isExhausted(charge)).toBe(true);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.exhausted]);
    });

    it('reports no second exhaustion for a lowered limit', async () => {
      const charge = chargeOf();
      await useUp(charge);
      await refuse({ ...charge, limit: 50n }, 30n, 2);
      expect(await tested.isExhausted(charge)).toBe(true);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it('reports exhaustion of one window only', async () => {
      const november = chargeOf();
      await useUp(november);
      const december = { ...november, windowId: '2026-12' };
      await useUp(december);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.exhausted]);
    });

    it('ends exhaustion with a correction that makes room, and reports it once', async () => {
      const charge = chargeOf();
      await spend(charge, 60n);
      const reservation = await admit([charge], { bound: cost(40n) });
      await tested.store.reap(LEASE_OVER(reservation));
      expect(await tested.isExhausted(charge)).toBe(true);
      await tested.store.settle(settlementOf(reservation, { figures: cost(1n) }));
      expect(await tested.isExhausted(charge)).toBe(false);
      await refuse(charge, 60n);
      expect(await tested.isExhausted(charge)).toBe(true);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });
  });

  describe('a line that comes to lie below what is used', () => {
    const change = (charge: Charge, facts: Partial<Charge>, organisationId = ORGANISATION): Promise<void> => {
      const { policyId, windowId, limit, threshold } = { ...charge, ...facts };
      return tested.store.changeLimit({ organisationId, policyId, windowId, limit, threshold });
    };

    it('raises the alert of a lowered line with the next settlement', async () => {
      const charge = chargeOf({ enforced: false, threshold: 80n });
      await spend(charge, 60n);
      await spend({ ...charge, threshold: 50n }, 1n);
      expect(await tested.alerts()).toEqual([ALERTS.threshold]);
      await spend({ ...charge, threshold: 40n, limit: 50n }, 1n);
      await spend({ ...charge, threshold: 40n, limit: 50n }, 1n);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.threshold]);
    });

    it.each([
      ['a threshold of 0', { threshold: 0n }, [ALERTS.threshold]],
      ['a limit of 0', { limit: 0n, enforced: false }, [ALERTS.exhausted]],
    ])('raises the alert of %s as soon as anything is used', async (_what, facts, alerts) => {
      const charge = chargeOf(facts);
      const released = await admit([charge]);
      await tested.store.release(released.id, released.at);
      expect(await tested.alerts()).toEqual([]);
      await spend(charge, 1n);
      await spend(charge, 1n);
      expect(await tested.alerts()).toEqual(alerts);
    });

    it('raises the alert of a lowered line at once when the policy changes', async () => {
      const charge = chargeOf({ threshold: 80n });
      await spend(charge, 60n);
      await change(charge, { threshold: 61n });
      expect(await tested.alerts()).toEqual([]);
      await change(charge, { threshold: 60n });
      await change(charge, { threshold: 60n });
      expect(await tested.alerts()).toEqual([ALERTS.threshold]);
      await change(charge, { threshold: 50n, limit: 60n });
      expect(await tested.alerts()).toEqual([ALERTS.exhausted, ALERTS.threshold]);
      expect(await tested.isExhausted(charge)).toBe(true);
      expect(await tested.bucket(charge)).toEqual({ used: 60n, reserved: 0n, epoch: 0 });
    });

    it('raises the alert of a line again when it is raised, and lowered again before the next call', async () => {
      const charge = chargeOf({ threshold: 50n });
      await spend(charge, 60n);
      await change(charge, { threshold: 70n });
      expect(await tested.alerts()).toEqual([ALERTS.threshold]);
      await change(charge, { threshold: 55n });
      await change(charge, { threshold: 54n });
      expect(await tested.alerts()).toEqual([ALERTS.threshold, ALERTS.threshold]);
    });

    it('raises the alert of a lowered line when calls in flight reach it', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge], { bound: cost(60n) });
      await change(charge, { limit: 50n });
      expect(await tested.alerts()).toEqual([]);
      await tested.store.settle(settlementOf(reservation));
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it('raises no alert of a lowered line in an unused bucket', async () => {
      const charge = chargeOf();
      const reservation = await admit([charge]);
      await tested.store.release(reservation.id, reservation.at);
      await change(charge, { limit: 0n });
      expect(await tested.alerts()).toEqual([]);
    });

    it('raises no alert of a lowered line in other windows, policies or tenants', async () => {
      const [charge, other] = [chargeOf(), chargeOf()];
      for (const one of [charge, other, { ...charge, windowId: '2026-10' }]) await spend(one, 60n);
      await change({ ...charge, windowId: '2026-12' }, { limit: 50n });
      await change(charge, { limit: 50n }, '00000000-0000-4000-8000-00000000000f');
      expect(await tested.alerts()).toEqual([]);
      await change(charge, { limit: 50n });
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it('ends exhaustion with a raise, and reports it again when usage passes the line again', async () => {
      const charge = chargeOf({ threshold: 50n });
      await spend(charge, 90n);
      expect((await tested.store.reserve(reservationOf([charge], { bound: cost(30n) }))).kind).toBe('exceeded');
      const raised = { threshold: 95n, limit: 130n };
      await change(charge, raised);
      expect(await tested.isExhausted(charge)).toBe(false);
      await spend({ ...charge, ...raised }, 40n);
      const both = [ALERTS.exhausted, ALERTS.threshold];
      expect(await tested.alerts()).toEqual([...both, ...both].sort());
    });
  });

  describe('a counter that can hold no more', () => {
    const MOST = 10n ** 15n;
    let charge: Charge;

    beforeEach(async () => {
      charge = chargeOf({ enforced: false });
      await spend(charge, 100n);
    });

    it('keeps a full counter where it is, and records the usage in the ledger', async () => {
      await tested.fill(charge, MAX_COUNT - 5n);
      await spend(charge, MOST);
      await spend(charge, MOST);
      expect(await tested.bucket(charge)).toEqual({ used: MAX_COUNT, reserved: 0n, epoch: 0 });
      expect((await tested.ledger()).map(({ amounts }) => amounts)).toEqual([[100n], [MOST], [MOST]]);
      expect((await tested.adjustments()).slice(1)).toEqual([5n - MOST, -MOST]);
      expect(await tested.alerts()).toEqual([ALERTS.exhausted]);
    });

    it('settles many concurrent calls on a full counter, and those of another group beside them', async () => {
      await tested.fill(charge, MAX_COUNT);
      const other = chargeOf();
      const all = Array.from({ length: 10 }, () => reservationOf([charge], { bound: cost(MOST) }));
      const settled = [...all, reservationOf([other])].map(async (reservation) => {
        await tested.store.reserve(reservation);
        await tested.store.settle(settlementOf(reservation));
      });
      await Promise.all(settled);
      expect(await tested.bucket(charge)).toMatchObject({ used: MAX_COUNT, reserved: 0n });
      expect(await tested.bucket(other)).toMatchObject({ used: 10n, reserved: 0n });
      expect(await tested.ledger()).toHaveLength(12);
    });

    it('charges a lost reservation on a full counter', async () => {
      await tested.fill(charge, MAX_COUNT);
      const reservation = await admit([charge]);
      await tested.lose(reservation.id);
      await tested.store.settle(settlementOf(reservation));
      expect(await tested.bucket(charge)).toMatchObject({ used: MAX_COUNT, reserved: 0n });
      expect(await tested.ledger()).toHaveLength(2);
    });

    it('charges a presumed amount on a full counter, and corrects it to no less than zero', async () => {
      await tested.fill(charge, MAX_COUNT);
      const reservation = await admit([charge], { bound: cost(MOST) });
      expect(await tested.store.reap(LEASE_OVER(reservation))).toBe(1);
      expect(await tested.bucket(charge)).toMatchObject({ used: MAX_COUNT, reserved: 0n });
      await tested.fill(charge, 7n);
      await tested.store.settle(settlementOf(reservation, { figures: cost(3n) }));
      expect(await tested.bucket(charge)).toMatchObject({ used: 0n, reserved: 0n });
    });

    it('refuses calls on a full counter where the limit is enforced, and empties it with a reset', async () => {
      await tested.fill(charge, MAX_COUNT);
      const enforced = { ...charge, enforced: true, limit: MAX_COUNT };
      expect((await tested.store.reserve(reservationOf([enforced]))).kind).toBe('exceeded');
      expect(await tested.store.reset(charge, ADJUSTMENT)).toBe(true);
      expect(await tested.bucket(charge)).toEqual({ used: 0n, reserved: 0n, epoch: 1 });
      expect((await tested.store.reserve(reservationOf([enforced]))).kind).toBe('admitted');
    });
  });

  describe('the cap on the buckets of a policy', () => {
    const crowd = (charge: Charge, count: number): readonly Charge[] =>
      Array.from({ length: count }, (_, index) => ({
        ...charge,
        bucketHash: `bucket-${index}`,
        valueKey: `user:${index}`,
      }));

    it('refuses a call that needs one bucket too many, also concurrently, and admits known ones', async () => {
      const charges = crowd(chargeOf(), 10);
      const outcomes = await Promise.all(charges.map((charge) => tested.store.reserve(reservationOf([charge]))));
      expect(outcomes.map(({ kind }) => kind).sort()).toEqual([
        ...Array.from({ length: MAX_BUCKETS }, () => 'admitted'),
        ...Array.from({ length: 10 - MAX_BUCKETS }, () => 'crowded'),
      ]);
      const known = charges.filter((_, index) => outcomes[index]?.kind === 'admitted');
      for (const charge of known) await admit([charge]);
      expect(await tested.openReservations()).toBe(2 * MAX_BUCKETS);
    });

    it('caps the buckets of each policy and window separately', async () => {
      const charge = chargeOf();
      for (const one of crowd(charge, MAX_BUCKETS)) await admit([one]);
      await admit(crowd({ ...charge, windowId: '2026-12' }, 1));
      await admit([chargeOf()]);
    });

    it('refuses no call of a policy that only monitors: a bucket too many is not counted', async () => {
      const watching = chargeOf({ enforced: false });
      const strict = chargeOf();
      for (const charge of crowd(watching, MAX_BUCKETS)) await admit([charge]);
      const [extra = watching] = crowd(watching, MAX_BUCKETS + 1).slice(-1);
      const reservation = await admit([extra, strict]);
      await tested.store.settle(settlementOf(reservation));
      expect(await tested.bucket(extra)).toBeUndefined();
      expect(await tested.bucket(strict)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
    });

    it('does not count refused calls in the cap on buckets', async () => {
      const charge = chargeOf();
      for (const one of crowd({ ...charge, limit: 5n }, 5))
        expect((await tested.store.reserve(reservationOf([one]))).kind).toBe('exceeded');
      for (const one of crowd(charge, MAX_BUCKETS)) await admit([one]);
    });
  });

  it('writes waiting work before it closes', async () => {
    const charge = chargeOf();
    const reservation = await admit([charge]);
    const settled = tested.store.settle(settlementOf(reservation));
    await tested.store.close();
    await settled;
    expect(await tested.bucket(charge)).toEqual({ used: 10n, reserved: 0n, epoch: 0 });
  });
});
