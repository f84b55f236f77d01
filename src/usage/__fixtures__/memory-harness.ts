import { TestClock } from '../../../test/support/test-clock.js';
import { tokensOf } from '../units.js';
import type { BucketKey } from '../usage-store.types.js';
import { MemoryUsageStore } from './memory-usage.store.js';
import type { StoreHarness, TestedStore } from './store-harness.js';

export const memoryHarness: StoreHarness = {
  name: 'memory',
  start: async () => ({ open: async (maxBuckets) => openMemory(maxBuckets), stop: async () => undefined }),
};

function openMemory(maxBuckets: number): TestedStore {
  const clock = new TestClock();
  const store = new MemoryUsageStore(clock, maxBuckets);
  const bucketAt = ({ policyId, bucketHash, windowId }: BucketKey) =>
    store.buckets.get(`${policyId} ${bucketHash} ${windowId}`);
  return {
    store,
    clock,
    async bucket(key) {
      const bucket = bucketAt(key);
      if (bucket === undefined) return undefined;
      const { used, reserved, epoch } = bucket;
      return { used, reserved, epoch };
    },
    isExhausted: async (key) => bucketAt(key)?.isExhausted === true,
    async ledger() {
      return [...store.events].map(([id, { usage, charges }]) => {
        const { costNano, quantities } = usage.figures;
        const amounts = charges.map(({ amount }) => amount);
        return { id, costNano, tokens: tokensOf(quantities), source: usage.source, amounts };
      });
    },
    openReservations: async () => store.reservations.size,
    alerts: async () => [...store.alerts.values()].map(({ type }) => type).sort(),
    adjustments: async () => store.adjustments.map(({ delta }) => delta),
    async drifting() {
      const sums = new Map<unknown, bigint>();
      const add = (key: BucketKey, amount: bigint): unknown =>
        sums.set(bucketAt(key), (sums.get(bucketAt(key)) ?? 0n) + amount);
      for (const { charges } of store.events.values()) for (const { charge, amount } of charges) add(charge, amount);
      for (const { key, delta } of store.adjustments) add(key, delta);
      return [...store.buckets.values()].filter((bucket) => bucket.used !== (sums.get(bucket) ?? 0n));
    },
    async fill(key, used) {
      const bucket = bucketAt(key);
      if (bucket === undefined) throw new Error('there is no such bucket');
      store.adjustments.push({ key, delta: used - bucket.used, epoch: bucket.epoch });
      bucket.used = used;
    },
    async lose(id) {
      const lost = store.reservations.get(id);
      store.reservations.delete(id);
      for (const { charge, amount } of lost?.charges ?? []) {
        const bucket = bucketAt(charge);
        if (bucket !== undefined) bucket.reserved -= amount;
      }
    },
  };
}
