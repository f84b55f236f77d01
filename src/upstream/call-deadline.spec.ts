import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { FakeCaller } from './__fixtures__/calls.js';
import { CallDeadline } from './call-deadline.js';

describe('CallDeadline', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: 1_000 });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  function limits(timeoutMs = 100, caller = new FakeCaller()): CallDeadline {
    return new CallDeadline({ timeoutMs, caller });
  }

  it('returns the remaining time', () => {
    const call = limits(100);
    jest.advanceTimersByTime(30);
    expect(call.remainingMs).toBe(70);
    call.dispose();
  });

  it('ends at the deadline, once', () => {
    const ended = jest.fn();
    limits(100).listen(ended);
    jest.advanceTimersByTime(99);
    expect(ended).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1_000);
    expect(ended).toHaveBeenCalledTimes(1);
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ kind: 'timeout' }));
  });

  it('ends when the caller leaves, and not again at the deadline', () => {
    const caller = new FakeCaller();
    const ended = jest.fn();
    limits(100, caller).listen(ended);
    caller.leave();
    jest.advanceTimersByTime(1_000);
    expect(ended).toHaveBeenCalledTimes(1);
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ kind: 'caller_gone' }));
  });

  it('notifies a late listener at once', () => {
    const caller = new FakeCaller();
    caller.leave();
    const ended = jest.fn();
    limits(100, caller).listen(ended);
    expect(ended).toHaveBeenCalledTimes(1);
  });

  it('lets work finish that is done in time', async () => {
    const call = limits(100);
    await expect(call.race(Promise.resolve(7))).resolves.toBe(7);
    await expect(call.race(Promise.reject(new Error('no')))).rejects.toThrow('no');
    call.dispose();
  });

  it('does not wait for work beyond the deadline', async () => {
    const work = limits(100).race(new Promise(() => undefined));
    const outcome = expect(work).rejects.toMatchObject({ kind: 'timeout' });
    jest.advanceTimersByTime(100);
    await outcome;
  });

  it('ends a sleep at once when the caller leaves, and leaves no timer', async () => {
    const caller = new FakeCaller();
    const call = limits(100_000, caller);
    const outcome = expect(call.sleep(50_000)).rejects.toMatchObject({ kind: 'caller_gone' });
    caller.leave();
    await outcome;
    call.dispose();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('sleeps for the given time', async () => {
    const call = limits(1_000);
    let awake = false;
    const sleeping = (async (): Promise<void> => {
      await call.sleep(200);
      awake = true;
    })();
    await jest.advanceTimersByTimeAsync(199);
    expect(awake).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    await sleeping;
    call.dispose();
  });

  it('releases the timer and the caller', () => {
    const caller = new FakeCaller();
    limits(100, caller).dispose();
    expect(jest.getTimerCount()).toBe(0);
    expect(caller.listeners.size).toBe(0);
  });

  it('accepts a timeout beyond the range of a timer as a very long one', () => {
    const ended = jest.fn();
    const call = limits(10_000_000_000);
    call.listen(ended);
    jest.advanceTimersByTime(60_000);
    expect(ended).not.toHaveBeenCalled();
    call.dispose();
  });

  it('ends only after silence, when it is restarted', () => {
    const ended = jest.fn();
    const call = new CallDeadline({ timeoutMs: 100, caller: new FakeCaller() }, 'silence');
    call.listen(ended);
    for (let index = 0; index < 5; index += 1) {
      jest.advanceTimersByTime(99);
      call.touch();
    }
    expect(ended).not.toHaveBeenCalled();
    jest.advanceTimersByTime(100);
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ message: 'nothing moved for 100 ms' }));
  });

  it('stays ended when it is restarted', () => {
    const ended = jest.fn();
    const call = limits(100);
    call.listen(ended);
    call.dispose();
    call.touch();
    expect(jest.getTimerCount()).toBe(0);
  });

  it('bounds the silence of its caller separately', () => {
    const ended = jest.fn();
    const call = new CallDeadline({ timeoutMs: 100, caller: new FakeCaller() }, 'silence');
    call.listen(ended);
    call.waitForClient(500);
    jest.advanceTimersByTime(499);
    call.waitForUpstream();
    jest.advanceTimersByTime(99);
    call.waitForClient(500);
    jest.advanceTimersByTime(400);
    call.touch();
    jest.advanceTimersByTime(499);
    expect(ended).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(ended).toHaveBeenCalledTimes(1);
    expect(ended).toHaveBeenCalledWith(
      expect.objectContaining({ kind: 'caller_gone', message: 'the caller took nothing for 500 ms' }),
    );
  });

  it('returns to the short bound when its caller has read everything', () => {
    const ended = jest.fn();
    const call = limits(100);
    call.listen(ended);
    call.waitForClient(500);
    call.waitForUpstream();
    jest.advanceTimersByTime(100);
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ kind: 'timeout' }));
  });

  it('keeps a given bound, whatever its caller does', () => {
    const ended = jest.fn();
    const call = limits(100);
    call.listen(ended);
    call.waitForUpstream(1_000);
    call.waitForClient(500);
    call.waitForUpstream();
    jest.advanceTimersByTime(999);
    expect(ended).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1);
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ message: 'nothing moved for 1000 ms' }));
  });

  it.each(['waitForClient', 'waitForUpstream'] as const)('stays ended after %s', (wait) => {
    const call = limits(100);
    call.dispose();
    call[wait](500);
    expect(jest.getTimerCount()).toBe(0);
  });
});
