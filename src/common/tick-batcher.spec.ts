import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { TickBatcher } from './tick-batcher.js';

describe('TickBatcher', () => {
  it('runs steps at the end of the turn, in order', async () => {
    const taken: number[] = [];
    const queue = new TickBatcher();
    for (const step of [1, 2, 3]) queue.add(() => taken.push(step));
    await Promise.resolve();
    expect(taken).toEqual([]);
    await turn();
    expect(taken).toEqual([1, 2, 3]);
  });

  it('runs later steps in another turn', async () => {
    const taken: string[] = [];
    const queue = new TickBatcher();
    queue.add(() => {
      taken.push('first');
      queue.add(() => taken.push('second'));
    });
    await turn();
    expect(taken).toEqual(['first']);
    await turn();
    expect(taken).toEqual(['first', 'second']);
  });

  it('continues all steps of a turn together after each await', async () => {
    const taken: string[] = [];
    const queue = new TickBatcher();
    const walk = async (name: string): Promise<void> => {
      for (const place of ['in', 'through', 'out']) {
        taken.push(`${name} ${place}`);
        await Promise.resolve();
      }
    };
    for (const name of ['a', 'b']) queue.add(() => void walk(name));
    await turn();
    await turn();
    expect(taken).toEqual(['a in', 'b in', 'a through', 'b through', 'a out', 'b out']);
  });

  it('splits many steps into batches, so that other work can run, and runs them all', async () => {
    const queue = new TickBatcher();
    let taken = 0;
    for (let step = 0; step < 150; step += 1) queue.add(() => (taken += 1));
    const counts: number[] = [];
    while (taken < 150) {
      await turn();
      counts.push(taken);
    }
    expect(counts).toEqual([64, 128, 150]);
  });
});
