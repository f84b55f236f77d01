import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ReportSlots } from './report-slots.js';

const WAIT_MS = 2_000;

describe('ReportSlots', () => {
  let slots: ReportSlots;
  let log: string[];

  beforeEach(() => {
    jest.useFakeTimers();
    slots = new ReportSlots({ all: 3, each: 2, waitMs: WAIT_MS });
    log = [];
  });

  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  const ask = async (organisation: string): Promise<void> => {
    log.push(`${organisation} ${(await slots.begin(organisation)) ? 'begins' : 'is refused'}`);
  };
  const askAll = async (...organisations: string[]): Promise<void> => {
    for (const organisation of organisations) void ask(organisation);
    await jest.advanceTimersByTimeAsync(0);
  };
  const end = async (organisation: string): Promise<void> => {
    slots.end(organisation);
    await jest.advanceTimersByTimeAsync(0);
  };
  const waitToTheEnd = (): Promise<void> => jest.advanceTimersByTimeAsync(WAIT_MS);

  it('keeps one slot for others, however many an organisation requests', async () => {
    await askAll('a', 'a', 'a', 'a', 'b');
    expect(log).toEqual(['a begins', 'a begins', 'b begins']);
    await waitToTheEnd();
    expect(log.slice(3)).toEqual(['a is refused', 'a is refused']);
  });

  it('runs no more reports than there are slots', async () => {
    await askAll('a', 'b', 'c', 'd');
    expect(log).toEqual(['a begins', 'b begins', 'c begins']);
    await end('b');
    expect(log.at(-1)).toBe('d begins');
    await askAll('e');
    await waitToTheEnd();
    expect(log.at(-1)).toBe('e is refused');
  });

  it('starts the report that has waited longest, but skips an organisation at its maximum', async () => {
    await askAll('a', 'a', 'b', 'a', 'c', 'b');
    expect(log).toEqual(['a begins', 'a begins', 'b begins']);
    await end('b');
    expect(log.at(-1)).toBe('c begins');
    await end('a');
    expect(log.at(-1)).toBe('a begins');
    await end('c');
    expect(log.at(-1)).toBe('b begins');
  });

  it('frees all slots when their reports have ended, and does not wait for refused ones', async () => {
    await askAll('a', 'a', 'a');
    await waitToTheEnd();
    expect(log.at(-1)).toBe('a is refused');
    await end('a');
    await end('a');
    await askAll('a', 'a', 'b');
    expect(log.slice(3)).toEqual(['a begins', 'a begins', 'b begins']);
  });

  it('gives a single slot to any organisation', async () => {
    slots = new ReportSlots({ all: 1, each: 1, waitMs: WAIT_MS });
    await askAll('a', 'b');
    expect(log).toEqual(['a begins']);
    await end('a');
    expect(log).toEqual(['a begins', 'b begins']);
  });
});
