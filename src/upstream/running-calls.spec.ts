import { describe, expect, it } from '@jest/globals';
import { RunningCalls } from './running-calls.js';

describe('RunningCalls', () => {
  it('is idle at first', async () => {
    await new RunningCalls().idle();
  });

  it.each([
    ['succeeded', () => Promise.resolve()],
    ['failed', () => Promise.reject(new Error('x'))],
  ])('is idle when the last call has %s', async (_how, end) => {
    const calls = new RunningCalls();
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const running = [calls.during(gate.then(end)), calls.during(Promise.resolve())];
    let idle = false;
    const waiting = calls.idle().then(() => (idle = true));
    await running[1];
    expect(idle).toBe(false);
    release();
    await Promise.allSettled(running);
    await waiting;
  });

  it('waits no longer than it may', async () => {
    const calls = new RunningCalls();
    void calls.during(new Promise(() => undefined));
    await calls.idle(5);
  });

  it('gives the result of the call', async () => {
    expect(await new RunningCalls().during(Promise.resolve(7))).toBe(7);
  });
});
