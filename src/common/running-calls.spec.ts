import { describe, expect, it } from '@jest/globals';
import { RunningCalls } from './running-calls.js';

describe('RunningCalls', () => {
  it('is idle before the first call', async () => {
    await new RunningCalls().idle();
  });

  it('is idle when the last call has ended', async () => {
    const calls = new RunningCalls();
    calls.begin();
    calls.begin();
    let idle = false;
    const waiting = calls.idle().then(() => (idle = true));
    calls.end();
    await new Promise(setImmediate);
    expect(idle).toBe(false);
    calls.end();
    await waiting;
  });

  it('stops waiting at the time limit', async () => {
    const calls = new RunningCalls();
    calls.begin();
    await calls.idle(5);
  });
});
