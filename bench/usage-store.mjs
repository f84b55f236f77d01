// `npm run bench:usage`: pairs of reservation and settlement a second, batched against one statement a request, in one run.
//   DATABASE_URL=postgres://… npm run bench:usage    on a database of its own on that server; else on the embedded one
//   node bench/usage-store.mjs --check               ends with code 1 when the ratio is below the target
// How to read it: bench/README.md.
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';
import { alone, makeCharges, pair, perSecond } from './usage-calls.mjs';

const CALLERS = 200;
const POLICIES = 3;
const ROUNDS = 3;
const SLICE_MS = 2_000;
const TARGET = 15;
const POOL_SIZE = 10;

await buildIfStale();
await import('reflect-metadata');
const { TollgateDataSource } = await import('../dist/src/database/tollgate-data-source.js');
const { runMigrations } = await import('../dist/src/database/run-migrations.js');
const { ENTITIES } = await import('../dist/src/entities.js');
const { Clock } = await import('../dist/src/common/time/clock.js');
const { usageDrift } = await import('../dist/src/usage/drift.js');
const { PostgresUsageStore } = await import('../dist/src/usage/postgres-usage.store.js');

const database = await makeDatabase(process.env.DATABASE_URL, POOL_SIZE);
const dataSource = await new TollgateDataSource(database.settings, ENTITIES, { statementTimeout: 'none' }).initialize();
const batches = { count: 0, items: 0 };
const observer = {
  batchDone: (size) => {
    batches.count += 1;
    batches.items += size;
  },
  batchFailed: () => undefined,
  decided: () => undefined,
  dropped: () => undefined,
  reaped: () => undefined,
  reservationsOpen: () => undefined,
};

try {
  await runMigrations(dataSource);
  await compare();
} finally {
  await dataSource.destroy();
  await database.drop();
}

async function compare() {
  const shared = newStore();
  const modes = [
    { name: 'batched', stores: [shared], rates: [] },
    // A store has one statement in flight: with one store per caller, every request is a statement of its own.
    { name: 'one statement a request', stores: Array.from({ length: CALLERS }, newStore), rates: [] },
  ];
  const charges = makeCharges(POLICIES, 10n ** 18n);
  for (const mode of modes) await pairsPerSecond(mode.stores, charges, SLICE_MS / 2);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const mode of modes) {
      Object.assign(batches, { count: 0, items: 0 });
      mode.rates.push(await pairsPerSecond(mode.stores, charges, SLICE_MS));
      mode.batchSize = batches.items / batches.count;
    }
  }
  const [batched, single] = modes.map(({ rates }) => rates.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]);
  console.log(`${database.name}, ${CALLERS} callers, ${POLICIES} policies, one busy bucket each; medians of ${ROUNDS}`);
  for (const { name, rates, batchSize } of modes) {
    const all = rates.map((rate) => rate.toFixed(0)).join(', ');
    console.log(`  ${name.padEnd(24)} pairs/s: ${all.padEnd(24)} ${batchSize.toFixed(1)} items a statement`);
  }
  console.log(
    `  one caller alone         ${((await alone(() => pair(shared, charges))) / 2).toFixed(2)} ms a step (median)`,
  );
  const drift = await usageDrift(dataSource);
  const ratio = batched / single;
  console.log(`ratio: ${ratio.toFixed(1)} (target ≥ ${TARGET}); counters that differ from the ledger: ${drift.length}`);
  if (drift.length > 0 || (process.argv.includes('--check') && ratio < TARGET)) process.exitCode = 1;
}

function newStore() {
  return new PostgresUsageStore(dataSource, new Clock(), observer, {
    reserveTimeoutMs: 60_000,
    batchTimeoutMs: undefined,
  });
}

function pairsPerSecond(stores, charges, ms) {
  return perSecond(CALLERS, ms, (index) => pair(stores[index % stores.length], charges));
}
