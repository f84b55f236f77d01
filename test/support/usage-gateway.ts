import { readObject, readString } from '../../src/common/json/read.js';
import { UsageMeter } from '../../src/gateway/usage-meter.js';
import { PolicyCache } from '../../src/policies/policy.cache.js';
import { settledWithin } from '../../src/common/time/timeout.js';
import { usageDrift } from '../../src/usage/drift.js';
import { rollupDrift } from '../../src/usage/rollup-drift.js';
import { USAGE_STORE } from '../../src/usage/usage-store.token.js';
import type { UsageStore } from '../../src/usage/usage-store.types.js';
import { UsageEvent } from '../../src/usage/usage-event.entity.js';
import { UsageReservation } from '../../src/usage/usage-reservation.entity.js';
import { WebhookOutboxEvent } from '../../src/webhooks/webhook-outbox-event.entity.js';
import { eventually } from './eventually.js';
import { json, type Reply } from './fake-provider.js';
import { GatewayClient } from './gateway-client.js';
import { type RerankGateway, startRerankGateway } from './rerank-gateway.js';
import type { Answer, Message } from './send.js';

/** One search unit of this Cohere model costs $0.002, and two short documents are one search unit. */
export const MODEL = 'rerank-v3.5';
export const COST = 0.002;
export const COST_NANO = 2_000_000n;
export const REQUEST = { model: MODEL, query: 'capital of France', documents: ['Rome', 'Paris is the capital'] };

/** For calls whose clients have received an answer or have disconnected: longer than a busy machine takes for their ends. */
const SOON_MS = 20_000;

/** An answer in Cohere's format. */
export function scored(searchUnits = 1): Reply {
  return json({
    id: 'c-1',
    results: [{ index: 1, relevance_score: 0.9 }],
    meta: { billed_units: { search_units: searchUnits } },
  });
}

/** The counters and the ledger, from the database. */
export class UsageBooks {
  constructor(private readonly gateway: RerankGateway) {}

  /** The ledger, oldest first, once it has that many rows and no call is in flight. */
  async ledger(rows: number): Promise<readonly UsageEvent[]> {
    const { dataSource } = this.gateway.app;
    const events = dataSource.getRepository(UsageEvent);
    await eventually(async () => (await events.count()) >= rows && (await this.open()) === 0);
    return events.find({ order: { at: 'ASC', id: 'ASC' } });
  }

  async open(): Promise<number> {
    return this.gateway.app.dataSource.getRepository(UsageReservation).countBy({ isWithdrawn: false });
  }

  /** Types of the raised events, in alphabetical order. */
  async alerts(): Promise<readonly string[]> {
    const events = await this.gateway.app.dataSource.getRepository(WebhookOutboxEvent).find({ order: { type: 'ASC' } });
    return events.map(({ type }) => type);
  }

  /** Inconsistencies: counters and sums that differ from the ledger, and calls that never end. */
  async faults(): Promise<readonly unknown[]> {
    const meter = this.gateway.app.app.get(UsageMeter, { strict: false });
    const isIdle = await settledWithin(SOON_MS, meter.beforeApplicationShutdown());
    const { dataSource } = this.gateway.app;
    const drift = [...(await usageDrift(dataSource)), ...(await rollupDrift(dataSource))];
    return isIdle ? drift : [...drift, 'the meter waits for a call'];
  }
}

export interface UsageGateway extends RerankGateway {
  readonly admin: GatewayClient;
  readonly books: UsageBooks;
  /** A virtual key of Cohere at the fake provider. */
  readonly cohere: string;
  /** Creates a policy, by default for all calls with a bucket per API key; returns its id. */
  limit(fields: Readonly<Record<string, unknown>>): Promise<string>;
  call(more?: Pick<Message, 'headers' | 'signal'>): Promise<Answer>;
  /** Deletes all policies and usage. */
  reset(): Promise<void>;
}

const ALL_CALLS = {
  conditions: [{ key: 'workspace_id', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'cost',
} as const;
const TABLES = [
  'usage_adjustments',
  'usage_reservations',
  'usage_events',
  'usage_buckets',
  'webhook_outbox',
  'usage_policies',
];

export async function startUsageGateway(settings: Readonly<Record<string, string>> = {}): Promise<UsageGateway> {
  const gateway = await startRerankGateway(settings);
  const admin = new GatewayClient(gateway.app.url);
  const cohere = await gateway.virtualKey('cohere');
  const { organisation_id } = await admin.read('/v1/workspaces/default');
  const books = new UsageBooks(gateway);
  return {
    ...gateway,
    admin,
    books,
    cohere,
    async limit(fields) {
      const { id } = await admin.create('/v1/policies/usage-limits', { ...ALL_CALLS, ...fields });
      return readString(id, 'body.id');
    },
    call: (more) => gateway.rerank(cohere, REQUEST, more),
    async reset() {
      gateway.provider.forget();
      gateway.provider.replyWith(scored());
      await eventually(async () => (await books.open()) === 0);
      // Rows of calls without a limit would be written after all others are deleted.
      await gateway.app.app.get<UsageStore>(USAGE_STORE, { strict: false }).flush();
      for (const table of TABLES) await gateway.app.dataSource.query(`DELETE FROM ${table}`);
      gateway.app.app.get(PolicyCache, { strict: false }).forget(readString(organisation_id, 'organisation_id'));
    },
  };
}

/** The error body of a refusal. */
export function errorOf(answer: Answer): Readonly<Record<string, unknown>> {
  return readObject(readObject(JSON.parse(answer.text), 'body')['error'], 'body.error');
}
