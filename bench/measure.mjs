// Measures servers against each other in turns, so that what else happens on the machine meets all of them alike.
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuMs } from './processes.mjs';

/** Time for a server to finish what it does after its last answer. */
const SETTLE_MS = 20;

/** Brings every server to the speed of its compiled code. Bounded by `requests` and by `ms`, whichever comes first. */
export async function warmUp(subjects, { requests, ms }) {
  for (const { load } of subjects) await load.run({ ms, limit: requests });
}

/**
 * `rounds` times through the subjects and back again (A B C, C B A): a drift of the machine's speed evens out.
 * @returns per subject its slices: CPU microseconds of the server's process for each request, and latencies
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
  return { microseconds: ((after - before) * 1_000) / latencies.length, latencies };
}

export function summaryOf(slices) {
  const latencies = slices.flatMap((one) => one.latencies).sort(ascending);
  return {
    microseconds: median(slices.map((one) => one.microseconds)),
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    requests: latencies.length,
  };
}

/** The median of the ratios of neighbouring slices: they saw the same machine. */
export function ratioOf(slices, base) {
  return median(slices.map((one, index) => one.microseconds / base[index].microseconds));
}

/** The median of the differences of neighbouring slices, in microseconds. */
export function differenceOf(slices, base) {
  return median(slices.map((one, index) => one.microseconds - base[index].microseconds));
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
