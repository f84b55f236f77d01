// The part of bench/usage-store.mjs about refusals: an exhausted budget that is asked again and again, with PostgreSQL
// alone and with Redis before it, in alternating slices of one run.
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { alone, makeCharges, makeReservation, pair, perSecond } from './usage-calls.mjs';

const CALLERS = 200;
const POLICIES = 3;
const ROUNDS = 3;
const SLICE_MS = 2_000;
const COST = 2_000_000n;
const TIMES_ALONE = 500;

/**
 * @param openStore makes a store on PostgreSQL
 * @param statements how many such stores have sent so far
 */
export async function compareRefusals(url, openStore, statements) {
  const { RedisUsageStore } = await import('../dist/src/usage/redis-usage.store.js');
  const { RefusalMemory } = await import('../dist/src/usage/refusal-memory.js');
  const redis = new Redis(url, { enableOfflineQueue: false, lazyConnect: true });
  await redis.connect();
  const prefix = `tollgate_bench_${randomUUID()}`;
  try {
    const plain = openStore();
    const memory = new RefusalMemory(redis, console, { prefix });
    const remembering = new RedisUsageStore(openStore(), memory, { decided: () => {}, refusedFromMemory: () => {} });
    await compare(
      [
        { name: 'PostgreSQL alone', store: plain },
        { name: 'with Redis', store: remembering },
      ],
      statements,
    );
  } finally {
    const keys = await redis.keys(`${prefix}:*`);
    if (keys.length > 0) await redis.del(keys);
    redis.disconnect();
  }
}

async function compare(modes, statements) {
  const [full, ...open] = [...makeCharges(1, COST), ...makeCharges(POLICIES - 1, 10n ** 18n)];
  await pair(modes[0].store, [full]);
  for (const charge of open) await pair(modes[0].store, [charge]);
  const charges = [...open, full];
  const refused = async (store) => {
    const { kind } = await store.reserve(makeReservation(charges));
    if (kind !== 'exceeded') throw new Error(`a call over its limit was ${kind}`);
  };
  for (const { store } of modes) await perSecond(CALLERS, SLICE_MS / 2, () => refused(store));
  for (const mode of modes) Object.assign(mode, { rates: [], refusals: 0, statements: 0 });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const mode of modes) {
      const before = statements();
      const rate = await perSecond(CALLERS, SLICE_MS, () => refused(mode.store));
      mode.rates.push(rate);
      mode.refusals += (rate * SLICE_MS) / 1_000;
      mode.statements += statements() - before;
    }
  }
  console.log(`refusals: ${CALLERS} callers of a budget that is used up, one of ${POLICIES} policies`);
  for (const { name, store, rates, refusals, statements: count } of modes) {
    const all = rates.map((rate) => rate.toFixed(0)).join(', ');
    console.log(`  ${name.padEnd(24)} refusals/s: ${all.padEnd(24)} ${(count / refusals).toFixed(5)} statements each`);
    const before = statements();
    const refusal = await alone(() => refused(store), TIMES_ALONE);
    const each = (statements() - before) / TIMES_ALONE;
    console.log(
      `  one caller alone         ${refusal.toFixed(2)} ms a refusal (median), ${each.toFixed(5)} statements each`,
    );
  }
  for (const { name, store } of modes) {
    const admission = await alone(() => admitted(store, open), TIMES_ALONE);
    console.log(
      `  ${name.padEnd(24)} one caller alone: ${admission.toFixed(2)} ms a reservation and its release (median)`,
    );
  }
}

async function admitted(store, charges) {
  const reservation = makeReservation(charges);
  const { kind } = await store.reserve(reservation);
  if (kind !== 'admitted') throw new Error(`a call was ${kind}`);
  await store.release(reservation.id, reservation.at);
}
