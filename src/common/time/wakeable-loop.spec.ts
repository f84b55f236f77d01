import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { WakeableLoop } from './wakeable-loop.js';

const INTERVAL_MS = 1_000;

let turns: number;
let running: number;
let mostAtATime: number;
let endTurn: () => void;

async function turn(): Promise<void> {
  turns += 1;
  running += 1;
  mostAtATime = Math.max(mostAtATime, running);
  await new Promise<void>((done) => {
    endTurn = done;
  });
  running -= 1;
}

/** Lets pending promises settle. */
async function settle(): Promise<void> {
  await jest.advanceTimersByTimeAsync(0);
}

beforeEach(() => {
  jest.useFakeTimers();
  [turns, running, mostAtATime] = [0, 0, 0];
});

afterEach(() => {
  jest.useRealTimers();
});

describe('WakeableLoop', () => {
  it('runs a turn at every interval, starting with the first call', async () => {
    const loop = new WakeableLoop(turn, INTERVAL_MS);
    await jest.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(turns).toBe(0);
    loop.wake();
    endTurn();
    await settle();
    expect(turns).toBe(1);
    await jest.advanceTimersByTimeAsync(INTERVAL_MS);
    expect(turns).toBe(2);
    endTurn();
    await loop.stop();
  });

  it('runs exactly one more turn when it is woken during a turn', async () => {
    const loop = new WakeableLoop(turn, INTERVAL_MS);
    loop.wake();
    for (let count = 0; count < 5; count += 1) loop.wake();
    expect(turns).toBe(1);
    endTurn();
    await settle();
    expect(turns).toBe(2);
    endTurn();
    await settle();
    expect([turns, mostAtATime]).toEqual([2, 1]);
    await loop.stop();
  });

  it('waits for the current turn when it stops, and runs none after it', async () => {
    const loop = new WakeableLoop(turn, INTERVAL_MS);
    loop.wake();
    loop.wake();
    let stopped = false;
    const stopping = loop.stop().then(() => {
      stopped = true;
    });
    await settle();
    expect(stopped).toBe(false);
    endTurn();
    await stopping;
    loop.wake();
    await jest.advanceTimersByTimeAsync(10 * INTERVAL_MS);
    expect(turns).toBe(1);
  });

  it('stops immediately when it was never started', async () => {
    await expect(new WakeableLoop(turn, INTERVAL_MS).stop()).resolves.toBeUndefined();
    expect(turns).toBe(0);
  });
});
