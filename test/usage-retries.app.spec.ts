import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, type Reply } from './support/fake-provider.js';
import type { Answer } from './support/send.js';
import { COST, COST_NANO, REQUEST, scored, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const OK = 200;
/** The client's answer when no further attempt is made: the provider's last answer. */
const PROVIDER_FAILED = 502;
const PATH = '/v1/policies/usage-limits';
/** The amounts charged for a call of the usual cost, by policy. */
const CHARGED = [String(COST_NANO)];

let gateway: UsageGateway;

beforeAll(async () => {
  gateway = await startUsageGateway();
});
beforeEach(() => gateway.reset());
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

/** A call whose first attempt fails after `change`, which runs while the call is in flight. Further attempts succeed. */
function callAround(change: () => Promise<unknown>, call = (): Promise<Answer> => gateway.call()): Promise<Answer> {
  let isFirst = true;
  const reply: Reply = (response, received) => {
    if (!isFirst) return scored()(response, received);
    isFirst = false;
    void change().then(() => json({}, 503)(response, received));
  };
  gateway.provider.replyWith(reply);
  return call();
}

async function callTimes(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) expect((await gateway.call()).status).toBe(OK);
}

async function entityOf(id: string): Promise<unknown> {
  const [entity] = await gateway.admin.list(`${PATH}/${id}/entities`);
  return entity;
}

async function makeUnreadable(id: string): Promise<void> {
  await gateway.app.dataSource.query(`UPDATE usage_policies SET credit_limit = 'NaN' WHERE id = $1`, [id]);
  gateway.app.clock.advance(60_000);
}

describe('the limits of a retry', () => {
  it('admits a retry under a limit that was raised meanwhile, without an exhaustion event', async () => {
    const id = await gateway.limit({ credit_limit: 2 * COST });
    const answer = await callAround(async () => {
      await gateway.admin.patch(`${PATH}/${id}`, { credit_limit: 10 });
      await callTimes(3);
    });
    expect(answer.status).toBe(OK);
    await gateway.books.ledger(5);
    const active = { credit_limit: 10, status: 'active', current_usage: 4 * COST };
    expect(await entityOf(id)).toMatchObject(active);
    expect(await gateway.books.alerts()).toEqual([]);
  });

  it('refuses a retry under a limit that was lowered meanwhile', async () => {
    const id = await gateway.limit({ credit_limit: 1 });
    const answer = await callAround(async () => {
      await callTimes(1);
      await gateway.admin.patch(`${PATH}/${id}`, { credit_limit: COST / 2 });
    });
    expect(answer.status).toBe(PROVIDER_FAILED);
    expect(gateway.provider.calls).toHaveLength(2);
    await gateway.books.ledger(2);
    expect(await entityOf(id)).toMatchObject({ credit_limit: COST / 2, status: 'exhausted', current_usage: COST });
    expect(await gateway.books.alerts()).toEqual(['usage_limit.exhausted']);
  });

  it('does not charge a retry to a limit that was archived meanwhile', async () => {
    const id = await gateway.limit({ credit_limit: 1 });
    const answer = await callAround(() => gateway.admin.delete(`${PATH}/${id}`));
    expect(answer.status).toBe(OK);
    expect((await gateway.books.ledger(2)).map(({ amounts }) => amounts)).toEqual([['0'], []]);
  });

  it('charges a retry to a limit that was created meanwhile', async () => {
    const answer = await callAround(() => gateway.limit({ credit_limit: COST }));
    expect(answer.status).toBe(OK);
    expect(answer.headers['x-gateway-limit-remaining']).toBe('0');
    expect((await gateway.books.ledger(2)).map(({ amounts }) => amounts)).toEqual([[], CHARGED]);
  });

  it.each([
    ['leaves no room', async () => gateway.limit({ credit_limit: 0 })],
    ['cannot be read', async () => makeUnreadable(await gateway.limit({ credit_limit: 1 }))],
  ])('refuses a retry under a limit that was created meanwhile and %s', async (_what, change) => {
    expect((await callAround(change)).status).toBe(PROVIDER_FAILED);
    expect(gateway.provider.calls).toHaveLength(1);
    expect(await gateway.books.ledger(1)).toHaveLength(1);
  });

  it('refuses a retry of an unpriced model under a cost limit that was created meanwhile', async () => {
    const request = { ...REQUEST, model: 'rerank-unheard-of' };
    const call = (): Promise<Answer> => gateway.rerank(gateway.cohere, request);
    const answer = await callAround(() => gateway.limit({ credit_limit: 1 }), call);
    expect(answer.status).toBe(PROVIDER_FAILED);
    expect(gateway.provider.calls).toHaveLength(1);
  });
});
