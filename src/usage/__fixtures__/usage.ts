import { randomUUID } from 'node:crypto';
import { NO_RATE } from '../prices/price.types.js';
import type { Charge, Reservation, Settlement, UnlimitedUsage, UsageFigures } from '../usage-store.types.js';

export const ORGANISATION = '00000000-0000-4000-8000-000000000001';
const WORKSPACE = '00000000-0000-4000-8000-000000000002';

export function cost(costNano: bigint, tokens = 0n): UsageFigures {
  return { costNano, quantities: { input: tokens, search_unit: 1n } };
}

/** Of a new policy that caps cost at 100. */
export function chargeOf(facts: Partial<Charge> = {}): Charge {
  return {
    policyId: randomUUID(),
    bucketHash: 'aaaaaaaaaaaaaaaaaaaaaa',
    windowId: '2026-11',
    valueKey: 'metadata.user:alice',
    workspaceId: WORKSPACE,
    unit: 'cost',
    limit: 100n,
    threshold: undefined,
    enforced: true,
    resetsAt: new Date('2026-12-01T00:00:00Z'),
    ...facts,
  };
}

/** A call that is expected to cost 10. */
export function reservationOf(charges: readonly Charge[], facts: Partial<Reservation> = {}): Reservation {
  return {
    id: randomUUID(),
    at: new Date('2026-11-21T09:00:00.123Z'),
    leaseMs: 60_000,
    dimensions: {
      organisationId: ORGANISATION,
      workspaceId: WORKSPACE,
      apiKeyId: '00000000-0000-4000-8000-000000000003',
      virtualKey: 'cohere-main',
      provider: 'cohere',
      model: 'rerank-v3.5',
      endpoint: 'rerank',
      mcpServer: null,
      mcpTool: null,
      metadata: { user: 'alice' },
      traceId: 'trace-1',
      attempt: 1,
    },
    bound: cost(10n),
    rate: NO_RATE,
    charges,
    ...facts,
  };
}

/** All that a usage without limits says of how it ended. */
export function settledAs(figures: UsageFigures, facts: Partial<UnlimitedUsage> = {}): Omit<Settlement, 'reservation'> {
  return { figures, source: 'computed', outcome: 'answered', rate: NO_RATE, firstTokenMs: null, ...facts };
}

/** The truth about a call: what was expected, unless told otherwise. */
export function settlementOf(reservation: Reservation, facts: Partial<Settlement> = {}): Settlement {
  const { bound: figures, rate } = reservation;
  return { reservation, figures, source: 'provider', outcome: 'answered', rate, firstTokenMs: null, ...facts };
}
