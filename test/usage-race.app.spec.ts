import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import type { Reply } from './support/fake-provider.js';
import type { Answer } from './support/send.js';
import { COST, COST_NANO, scored, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const CALLERS = 200;
const ROOM_FOR = 60;
const RETRY_MS = 20;

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway();
});
beforeEach(() => gateway.reset());
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

/** Answers after a delay, so that many calls are in flight at once. */
const slowly: Reply = (response, call) => void setTimeout(() => scored()(response, call), 20 + Math.random() * 40);

async function threePolicies(): Promise<readonly string[]> {
  return [
    await gateway.limit({ credit_limit: ROOM_FOR * COST }),
    await gateway.limit({ credit_limit: 1.5 * ROOM_FOR * COST, group_by: [{ key: 'model' }] }),
    await gateway.limit({ type: 'tokens', credit_limit: 1e9, group_by: [{ key: 'provider' }] }),
  ];
}

async function usedOf(policyId: string): Promise<{ readonly used: unknown; readonly reserved: unknown }> {
  const [entity] = await gateway.admin.list(`/v1/policies/usage-limits/${policyId}/entities`);
  return { used: entity?.['current_usage'], reserved: entity?.['reserved'] };
}

describe(`${CALLERS} concurrent callers under three policies`, () => {
  it('never exceeds the limit under concurrency and releases refused reservations', async () => {
    const [tightest = '', ...others] = await threePolicies();
    gateway.provider.replyWith(slowly);
    const answers = await Promise.all(Array.from({ length: CALLERS }, () => gateway.call()));
    const count = (status: number): number => answers.filter((answer) => answer.status === status).length;
    expect(count(200) + count(412) + count(429)).toBe(CALLERS);
    expect(count(200)).toBeLessThanOrEqual(ROOM_FOR);
    expect(count(200)).toBeGreaterThan(ROOM_FOR / 2);
    expect(gateway.provider.calls).toHaveLength(count(200));

    const rows = await gateway.books.ledger(count(200));
    expect(rows).toHaveLength(count(200));
    expect(rows.reduce((sum, { costNano }) => sum + BigInt(costNano), 0n)).toBe(BigInt(count(200)) * COST_NANO);
    for (const policy of [tightest, ...others]) expect(await usedOf(policy)).toMatchObject({ reserved: 0 });
  });

  it('uses the whole limit when callers retry after Retry-After', async () => {
    const [tightest = ''] = await threePolicies();
    gateway.provider.replyWith(slowly);
    const untilDecided = async (): Promise<Answer> => {
      for (;;) {
        const answer = await gateway.call();
        if (answer.status !== 429) return answer;
        // Retry-After is one second; the test has less time.
        await new Promise((resolve) => setTimeout(resolve, Math.random() * RETRY_MS));
      }
    };
    const answers = await Promise.all(Array.from({ length: CALLERS }, untilDecided));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(ROOM_FOR);
    await eventually(async () => (await gateway.books.open()) === 0);
    expect(await usedOf(tightest)).toEqual({ used: ROOM_FOR * COST, reserved: 0 });
  });
});
