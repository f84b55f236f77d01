import { describe, expect, it } from '@jest/globals';
import { CooperativeScheduler, Turns } from './cooperative-scheduler.js';

describe('Turns', () => {
  it('ends a turn after its units, and starts the next from zero', async () => {
    const turns = new Turns(new CooperativeScheduler(), 3);
    expect([turns.spent(1), turns.spent(1), turns.spent(1), turns.spent(1)]).toEqual([false, false, true, true]);
    await turns.next();
    expect([turns.spent(2), turns.spent(2)]).toEqual([false, true]);
  });
});

describe('CooperativeScheduler', () => {
  it('yields to work that was already waiting', async () => {
    const order: string[] = [];
    setImmediate(() => order.push('other'));
    await new CooperativeScheduler().next();
    order.push('us');
    expect(order).toEqual(['other', 'us']);
  });

  it('resumes one task per round of the event loop, in order', async () => {
    const queue = new CooperativeScheduler();
    const rounds: string[] = [];
    let round = 0;
    let working = true;
    const count = (): void => {
      round += 1;
      if (working) setImmediate(count);
    };
    setImmediate(count);
    const work = async (name: string): Promise<void> => {
      for (let turn = 0; turn < 3; turn += 1) {
        await queue.next();
        rounds.push(`${name}${turn} in round ${round}`);
      }
    };
    await Promise.all([work('a'), work('b')]);
    working = false;
    expect(rounds.map((entry) => entry.slice(0, 2))).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
    expect(new Set(rounds.map((entry) => entry.slice(2))).size).toBe(6);
  });

  it('continues after the queue was empty', async () => {
    const queue = new CooperativeScheduler();
    await queue.next();
    await expect(queue.next()).resolves.toBeUndefined();
  });
});
