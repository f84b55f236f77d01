// Calls as the gateway reserves and settles them, for the benchmarks of the usage stores.
import { randomUUID } from 'node:crypto';

const RATE = { mode: 'standard', tier: 0, priceIds: [] };

/** How a call ends that used all of its bound. */
export function settled({ bound: figures }) {
  return { figures, source: 'provider', outcome: 'answered', rate: RATE, firstTokenMs: null };
}

/** Of new policies that cap cost, one bucket each. */
export function makeCharges(count, limit) {
  return Array.from({ length: count }, () => ({
    policyId: randomUUID(),
    bucketHash: 'aaaaaaaaaaaaaaaaaaaaaa',
    windowId: 'cum',
    valueKey: 'workspace_id:bench',
    workspaceId: null,
    unit: 'cost',
    limit,
    threshold: limit / 10n,
    enforced: true,
    resetsAt: undefined,
  }));
}

export function makeReservation(charges) {
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
    bound: { costNano: 2_000_000n, quantities: { search_unit: 1n } },
    rate: RATE,
    charges,
  };
}

/** Like a call of the gateway, which does not wait for the settlement, though. */
export async function pair(store, charges) {
  const reservation = makeReservation(charges);
  const { kind } = await store.reserve(reservation);
  if (kind !== 'admitted') throw new Error(`a call was ${kind}`);
  await store.settle({ reservation, ...settled(reservation) });
}

/** Milliseconds, median. */
export async function alone(work, times = 200) {
  const taken = [];
  for (let count = 0; count < times; count += 1) {
    const started = performance.now();
    await work();
    taken.push(performance.now() - started);
  }
  return taken.toSorted((a, b) => a - b)[times / 2];
}

/** How often `callers`, each waiting for its own, get `work` done in a second. */
export async function perSecond(callers, ms, work) {
  const started = performance.now();
  let count = 0;
  const call = async (index) => {
    while (performance.now() - started < ms) {
      await work(index);
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, (_, index) => call(index)));
  return count / ((performance.now() - started) / 1_000);
}
