// `npm run bench:usage`: pairs of reservation and settlement a second, batched against one statement a request, in one run.
//   DATABASE_URL=postgres://… npm run bench:usage    on a database of its own on that server; else on the embedded one
//   node bench/usage-store.mjs --check               ends with code 1 when the ratio is below the target
// How to read it: bench/README.md.
import { randomUUID } from 'node:crypto';
import { buildIfStale } from '../scripts/build.mjs';
import { makeDatabase } from './database.mjs';

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
    // A store has one statement under way: with one each, every caller's request is a statement of its own.
    { name: 'one statement a request', stores: Array.from({ length: CALLERS }, newStore), rates: [] },
  ];
  const charges = makeCharges();
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
  console.log(`  one caller alone         ${(await secondsAlone(shared, charges)).toFixed(2)} ms a step (median)`);
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

async function pairsPerSecond(stores, charges, ms) {
  const started = performance.now();
  let pairs = 0;
  const call = async (index) => {
    while (performance.now() - started < ms) {
      await pair(stores[index % stores.length], charges);
      pairs += 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, (_, index) => call(index)));
  return pairs / ((performance.now() - started) / 1_000);
}

/** As a call of the gateway does it, except that nobody there waits for the settlement. */
async function pair(store, charges) {
  const reservation = makeReservation(charges);
  const { kind } = await store.reserve(reservation);
  if (kind !== 'admitted') throw new Error(`a call was ${kind}`);
  const { estimate: figures } = reservation;
  await store.settle({ reservation, figures, source: 'provider', priceId: null, status: 'settled' });
}

async function secondsAlone(store, charges) {
  const times = [];
  for (let count = 0; count < 200; count += 1) {
    const started = performance.now();
    await pair(store, charges);
    times.push((performance.now() - started) / 2);
  }
  return times.toSorted((a, b) => a - b)[100];
}

function makeCharges() {
  return Array.from({ length: POLICIES }, () => ({
    policyId: randomUUID(),
    bucketHash: 'aaaaaaaaaaaaaaaaaaaaaa',
    windowId: 'cum',
    valueKey: 'workspace_id:bench',
    workspaceId: null,
    unit: 'cost',
    limit: 10n ** 18n,
    threshold: 10n ** 17n,
    enforced: true,
    resetsAt: undefined,
  }));
}

function makeReservation(charges) {
  return {
    id: randomUUID(),
    at: new Date(),
    leaseMs: 120_000,
    dimensions: {
      organisationId: '00000000-0000-4000-8000-000000000001',
      workspaceId: '00000000-0000-4000-8000-000000000002',
      apiKeyId: '00000000-0000-4000-8000-000000000003',
      virtualKey: 'cohere-main',
      provider: 'cohere',
      model: 'rerank-v3.5',
      endpoint: 'rerank',
      mcpServer: null,
      mcpTool: null,
      metadata: { user: 'alice', team: 'search' },
      traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
      attempt: 1,
    },
    estimate: { costNano: 2_000_000n, tokens: 0n, searchUnits: 1n },
    estimateSource: 'computed',
    priceId: null,
    charges,
  };
}
