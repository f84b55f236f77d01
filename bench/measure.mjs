// Measures servers against each other in turns, so that what else happens on the machine meets all of them alike.
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs } from './processes.mjs';

/** Time for a server to finish what it does after its last answer: rows of the ledger are written after 200 ms. */
const SETTLE_MS = 300;

/** Brings every server to the speed of its compiled code: what runs once for many requests is compiled last. */
export async function warmUp(subjects, ms) {
  for (const { load } of subjects) await load.run({ ms });
}

/**
 * `rounds` times through the subjects and back again (A B C, C B A): a drift of the machine's speed evens out.
 * @returns per subject its slices: CPU microseconds for each request, of the server's process and of a database that is a thread
 *   of it, and latencies
 */
export async function measure(subjects, { rounds, sliceMs, settleMs = SETTLE_MS }) {
  const slices = new Map(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of [...subjects, ...subjects.toReversed()])
      slices.get(subject.name).push(await slice(subject, sliceMs, settleMs));
  }
  return slices;
}

async function slice({ load, child }, ms, settleMs) {
  await sleep(settleMs);
  const before = await cpuMs(child);
  const latencies = await load.run({ ms });
  await sleep(settleMs);
  const after = await cpuMs(child);
  const perRequest = (figure) => ((after[figure] - before[figure]) * 1_000) / latencies.length;
  const database = after.database === undefined ? 0 : perRequest('database');
  return { microseconds: perRequest('process'), database, latencies };
}

function summaryOf(slices) {
  const latencies = slices.flatMap((one) => one.latencies).sort(ascending);
  return {
    microseconds: median(slices.map((one) => one.microseconds)),
    database: median(slices.map((one) => one.database)),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    requests: latencies.length,
  };
}

/**
 * What all are compared with, slice by slice: the raw proxies together, since equal processes differ by a tenth by chance;
 * where there are none, the first subject.
 */
export function floorOf(slices) {
  const raw = [...slices].filter(([name]) => name.startsWith('raw')).map(([, own]) => own);
  const copies = raw.length > 0 ? raw : [...slices.values()].slice(0, 1);
  return copies[0].map((_one, index) => ({ microseconds: mean(copies.map((own) => own[index].microseconds)) }));
}

/** The median of the ratios of neighbouring slices: they saw the same machine. */
export function ratioOf(slices, base) {
  return median(slices.map((one, index) => one.microseconds / base[index].microseconds));
}

/** The same, with what the database does counted as well. */
export function ratioWithDatabase(slices, base) {
  return ratioOf(
    slices.map(({ microseconds, database }) => ({ microseconds: microseconds + database })),
    base,
  );
}

/** The median of the differences of neighbouring slices, in microseconds. */
export function differenceOf(slices, base) {
  return median(slices.map((one, index) => one.microseconds - base[index].microseconds));
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values) {
  return percentile(values.toSorted(ascending), 0.5);
}

function percentile(sorted, share) {
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)];
  return low + (sorted[Math.ceil(place)] - low) * (place % 1);
}

function ascending(a, b) {
  return a - b;
}

/**
 * Prints a line for each server: CPU and waiting time of a request, how many times the CPU of the floor that is, and the CPU of a
 * database in the same process.
 */
export function printTable(slices, counted) {
  const floor = floorOf(slices);
  console.log(row(['', 'µs', '× floor', 'database µs', 'p50 ms', 'p99 ms', counted]));
  for (const [name, own] of slices) {
    const { microseconds, database, p50, p99, requests } = summaryOf(own);
    const ratio = ratioOf(own, floor).toFixed(2);
    const ofDatabase = database === 0 ? '-' : database.toFixed(1);
    console.log(row([name, microseconds.toFixed(1), ratio, ofDatabase, p50.toFixed(2), p99.toFixed(2), requests]));
  }
}

function row([name, ...cells]) {
  return name.padEnd(18) + cells.map((cell) => String(cell).padStart(12)).join('');
}
