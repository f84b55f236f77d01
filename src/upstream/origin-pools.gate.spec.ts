import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Pool } from 'undici';
import { NEVER_ABORTED } from '../common/http/client-connection.js';
import { FakeCaller, failureOf } from './__fixtures__/calls.js';
import { CallDeadline } from './call-deadline.js';
import { ConnectionGate, type ConnectionShare, MAX_WAIT_MS } from './origin-pools.js';

const CONNECTIONS = 30;
const HOST = 'provider.example';

function newGate(): ConnectionGate {
  return new ConnectionGate(new Pool('https://provider.example'), CONNECTIONS, () => undefined);
}

function deadline(timeoutMs = 60_000, caller = NEVER_ABORTED): CallDeadline {
  return new CallDeadline({ timeoutMs, caller });
}

/** As many calls of one virtual key as get a connection; none of them ends. */
function hang(gate: ConnectionGate, id: string, organisationId = id): ConnectionShare {
  const share = gate.shareOf({ id, organisationId });
  while (gate.tryEnter(share)) continue;
  return share;
}

describe('ConnectionGate', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('leaves a third of the connections to others, however many calls of a virtual key hang', () => {
    const gate = newGate();
    expect(hang(gate, 'a').held).toBe(20);
    expect(gate.tryEnter(gate.shareOf({ id: 'b', organisationId: 'a' }))).toBe(true);
  });

  it('leaves a fifth of the connections to other organisations, whatever keys of one hang', () => {
    const gate = newGate();
    for (const id of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) hang(gate, id, 'a');
    expect(gate.held).toBe(24);
    expect(hang(gate, 'b').held).toBe(4);
  });

  it('lets calls of the gateway itself use every connection, and no more', () => {
    const gate = newGate();
    const own = gate.shareOf(undefined);
    while (gate.tryEnter(own)) continue;
    expect(gate.held).toBe(CONNECTIONS);
  });

  it('gives a single connection to any holder', () => {
    const gate = new ConnectionGate(new Pool('https://provider.example'), 1, () => undefined);
    expect(hang(gate, 'a').held).toBe(1);
  });

  it('gives connections that become free to the waiting holders in turn', async () => {
    const gate = newGate();
    const [a, b] = ['a', 'b'].map((id) => gate.shareOf({ id, organisationId: id }));
    if (a === undefined || b === undefined) throw new Error('no shares');
    while (gate.tryEnter(a) && gate.tryEnter(b)) continue;
    const order: string[] = [];
    const wait = (share: ConnectionShare, name: string): Promise<unknown> =>
      gate.wait(share, deadline(), HOST).then(() => order.push(name));
    const waits = [wait(a, 'a1'), wait(a, 'a2'), wait(b, 'b1')];
    expect(gate.waiting).toBe(3);
    for (const share of [a, b, a]) share.release();
    await Promise.all(waits);
    expect(order).toEqual(['a1', 'b1', 'a2']);
    expect(gate.waiting).toBe(0);
  });

  it('refuses a call that got no connection within a second, as busy and unsent', async () => {
    jest.useFakeTimers();
    const gate = newGate();
    const refused = failureOf(gate.wait(hang(gate, 'a'), deadline(), HOST));
    jest.advanceTimersByTime(MAX_WAIT_MS);
    expect(await refused).toMatchObject({ kind: 'busy', wasSent: false });
    expect(gate.waiting).toBe(0);
  });

  it('refuses at once where a thousand calls of the holder wait', async () => {
    jest.useFakeTimers();
    const gate = newGate();
    const share = hang(gate, 'a');
    const waits = Array.from({ length: 1_024 }, () => failureOf(gate.wait(share, deadline(), HOST)));
    expect((await failureOf(gate.wait(share, deadline(), HOST))).kind).toBe('busy');
    jest.advanceTimersByTime(MAX_WAIT_MS);
    await Promise.all(waits);
  });

  it('ends a wait with the deadline of its call, and when its client leaves', async () => {
    const gate = newGate();
    const share = hang(gate, 'a');
    const caller = new FakeCaller();
    const [late, left] = [deadline(10), deadline(60_000, caller)].map((limits) =>
      failureOf(gate.wait(share, limits, HOST)),
    );
    caller.leave();
    expect((await left)?.kind).toBe('caller_gone');
    expect(await late).toMatchObject({ kind: 'timeout', wasSent: false });
    const before = share.held;
    share.release();
    expect([gate.waiting, share.held]).toEqual([0, before - 1]);
  });

  it('forgets holders without a call, and counts those with one as before', () => {
    const gate = newGate();
    const kept = hang(gate, 'kept');
    for (let index = 0; index < 3_000; index += 1) gate.shareOf({ id: `idle-${index}`, organisationId: 'idle' });
    expect(gate.shareOf({ id: 'kept', organisationId: 'kept' })).toBe(kept);
    const sibling = gate.shareOf({ id: 'sibling', organisationId: 'kept' });
    expect(sibling.organisation).toBe(kept.organisation);
  });
});
