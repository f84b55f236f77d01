import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { usageDrift } from '../src/usage/drift.js';
import { rollupDrift } from '../src/usage/rollup-drift.js';
import { UsageBucket } from '../src/usage/usage-bucket.entity.js';
import { GatewayFleet, POLICIES } from './support/gateway-fleet.js';
import { databaseServer, onServer } from './support/services.js';
import { COST } from './support/usage-gateway.js';

const GATEWAYS = 4;
const KILLS = 10;
const CALLERS = 24;
const STREAMS = 312;
const STREAM_KILLS = 2;
/**
 * Callers without a pause would take the CPU that the start of the next gateway needs. A kill proves as much as there are
 * calls in flight: about seven, since a call lasts a third of its turn.
 */
const PAUSE_MS = 180;
/** Admitted, refused by a limit, or refused since the database did not answer in time: a starved processor is enough. */
const ANSWERS = [200, 412, 429, 503];

// Sixteen starts of a gateway, two seconds of CPU each.
jest.setTimeout(300_000);

onServer(`${GATEWAYS} gateways on one PostgreSQL (needs DATABASE_URL)`, () => {
  let fleet: GatewayFleet;

  beforeAll(async () => {
    fleet = await GatewayFleet.start(GATEWAYS, databaseServer ?? '');
  });

  afterAll(() => fleet.close());

  async function atRest(): Promise<void> {
    expect(await fleet.atRest()).toEqual([]);
    expect(await usageDrift(fleet.books)).toEqual([]);
    expect(await rollupDrift(fleet.books)).toEqual([]);
  }

  it('never exceeds a limit across gateways', async () => {
    const policyId = await fleet.limit({ credit_limit: 100 * COST, group_by: [{ key: 'organisation_id' }] });
    const before = fleet.provider.calls.length;
    const statuses = await Promise.all(
      Array.from({ length: 200 }, (_, index) => fleet.call(randomUUID(), { from: index % GATEWAYS })),
    );
    expect(new Set(statuses.filter((status) => !ANSWERS.includes(status)))).toEqual(new Set());
    // Some may have found the database busy, and hold their reservation until it is withdrawn. Those that follow get the rest
    // of the limit, to its last call.
    await atRest();
    let last = 0;
    for (let left = 200; left > 0 && last !== 412; left -= 1) statuses.push((last = await fleet.call(randomUUID())));
    expect(fleet.provider.calls.length - before).toBe(statuses.filter((status) => status === 200).length);
    await atRest();
    const [bucket] = await fleet.books.getRepository(UsageBucket).find();
    expect(bucket?.used).toBe(bucket?.creditLimit);
    await fleet.client().delete(`${POLICIES}/${policyId}`);
  });

  it(`holds limits over ${STREAMS} streams with a second target that clients leave, providers cut and kills end`, async () => {
    for (const [unit, price] of [
      ['input', '0.000001'],
      ['output', '0.00001'],
    ]) {
      await fleet.client().create('/v1/prices', { provider: 'openai-compatible', model: 'm', unit, price });
    }
    const chats = { conditions: [{ key: 'endpoint', value: 'chat' }], group_by: [{ key: 'organisation_id' }] };
    const policies = [
      await fleet.limit({ ...chats, type: 'tokens', credit_limit: 8_000 }),
      await fleet.limit({ ...chats, type: 'cost', credit_limit: 0.05 }),
    ];
    await atRest();
    await fleet.forget();

    const overshoots: bigint[] = [];
    let isOver = false;
    const sampling = (async () => {
      for (; !isOver; await new Promise((resolve) => setTimeout(resolve, 50))) {
        overshoots.push(...(await fleet.overshoots()));
      }
    })();
    const statuses: number[] = [];
    const caller = async (_: unknown, number: number): Promise<void> => {
      for (let left = STREAMS / CALLERS; left > 0; left -= 1) {
        const leaves = Math.random() < 0.3;
        statuses.push(await fleet.stream(randomUUID(), leaves ? 5 + Math.random() * 120 : 30_000));
        await new Promise((resolve) => setTimeout(resolve, Math.random() * (PAUSE_MS + number)));
      }
    };
    try {
      const callers = Promise.all(Array.from({ length: CALLERS }, caller));
      for (let kill = 0; kill < STREAM_KILLS; kill += 1) {
        await new Promise((resolve) => setTimeout(resolve, 300));
        await fleet.killOne();
      }
      await callers;
      await atRest();
    } finally {
      isOver = true;
      await sampling;
    }

    expect(overshoots).toEqual([]);
    expect(statuses.filter((status) => ![0, ...ANSWERS].includes(status))).toEqual([]);
    // The limits were met, and calls went through.
    expect(statuses.filter((status) => status === 412 || status === 429).length).toBeGreaterThan(0);
    const { reached, mostAttempts, miscounted, invented } = await fleet.reckon();
    expect(reached.length).toBeGreaterThan(50);
    // Some calls went on to the second target, and none to a third.
    expect(mostAttempts).toBe(2);
    expect(miscounted).toEqual([]);
    expect(invented).toEqual([]);
    for (const policyId of policies) await fleet.client().delete(`${POLICIES}/${policyId}`);
  });

  it(`loses no call when gateways are killed ${KILLS} times at random`, async () => {
    await fleet.limit({ credit_limit: 1e6, group_by: [{ key: 'virtual_key' }] });
    await atRest();
    await fleet.forget();

    let isOver = false;
    const caller = async (): Promise<void> => {
      while (!isOver) {
        await fleet.call(randomUUID());
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    };
    const callers = Array.from({ length: CALLERS }, caller);
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 600));
        await fleet.killOne();
      }
    } finally {
      isOver = true;
      await Promise.all(callers);
    }
    await atRest();

    const { reached, miscounted, invented, unsent } = await fleet.reckon();
    expect(reached.length).toBeGreaterThan(100);
    expect(new Set(reached).size).toBe(reached.length);
    expect(miscounted).toEqual([]);
    expect(invented).toEqual([]);
    expect(unsent.length).toBeLessThan(KILLS * CALLERS);
  });
});
