import { randomUUID } from 'node:crypto';
import type { Charge, Reservation, Settlement, UsageFigures } from '../usage-store.types.js';

export const ORGANISATION = '00000000-0000-4000-8000-000000000001';
const WORKSPACE = '00000000-0000-4000-8000-000000000002';

export function cost(costNano: bigint, tokens = 0n): UsageFigures {
  return { costNano, tokens, searchUnits: 1n };
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
    estimate: cost(10n),
    estimateSource: 'computed',
    priceId: null,
    charges,
    ...facts,
  };
}

/** The truth about a call: what was expected, unless told otherwise. */
export function settlementOf(reservation: Reservation, facts: Partial<Settlement> = {}): Settlement {
  return { reservation, figures: reservation.estimate, source: 'provider', priceId: null, status: 'settled', ...facts };
}
