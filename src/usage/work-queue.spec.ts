import { beforeEach, describe, expect, it } from '@jest/globals';
import { reservationOf } from './__fixtures__/usage.js';
import { type QueuedWork, WorkQueue } from './work-queue.js';

const noop = (): void => undefined;
const admission = (id: string): QueuedWork => ({
  work: { kind: 'reserve', id, reservation: reservationOf([], { id }) },
  isGivenUp: false,
  mayBeWritten: false,
  done: noop,
  failed: noop,
});
const release = (id: string): QueuedWork => ({
  work: { kind: 'release', id, at: new Date(0), expiresAt: new Date(0), isFinal: false },
  isGivenUp: false,
  mayBeWritten: false,
  done: noop,
  failed: noop,
});
const idsOf = (items: readonly QueuedWork[]): readonly string[] => items.map(({ work }) => work.id);

describe('a queue of admissions and of what is kept', () => {
  let queue: WorkQueue;

  beforeEach(() => {
    queue = new WorkQueue(4, 6);
  });

  const add = (...items: readonly QueuedWork[]): readonly boolean[] => items.map((item) => queue.add(item));

  it('takes work in order of arrival', () => {
    add(release('a'), admission('b'), release('c'), admission('d'));
    expect(idsOf(queue.take(10))).toEqual(['a', 'c', 'b', 'd']);
    expect(queue.isEmpty).toBe(true);
  });

  it('gives half of a batch to each kind, and all of it to a single kind', () => {
    add(...['a', 'b', 'c', 'd'].map(release), ...['1', '2', '3'].map(admission));
    expect(idsOf(queue.take(4))).toEqual(['a', 'b', '1', '2']);
    expect(idsOf(queue.take(3))).toEqual(['c', 'd', '3']);
    add(...['1', '2', '3'].map(admission));
    expect(idsOf(queue.take(2))).toEqual(['1', '2']);
  });

  it('takes one item of each id, and the next one in the next batch, in order', () => {
    const [first, second, third] = [release('a'), release('a'), release('a')];
    add(first, second, third, release('b'));
    expect(queue.take(10)).toEqual([first, expect.objectContaining({ work: expect.objectContaining({ id: 'b' }) })]);
    expect(queue.take(10)).toEqual([second]);
    expect(queue.take(10)).toEqual([third]);
  });

  it('limits the number of items of each kind', () => {
    expect(add(...['1', '2', '3', '4', '5'].map(admission))).toEqual([true, true, true, true, false]);
    expect(add(release('a'))).toEqual([true]);
  });

  it('skips admissions whose callers have stopped waiting', () => {
    const [gone, there] = [admission('1'), admission('2')];
    add(gone, there);
    gone.isGivenUp = true;
    expect(queue.take(10)).toEqual([there]);
  });

  it('puts returned work before all other', () => {
    add(release('b'));
    queue.putBack([release('a')]);
    expect(idsOf(queue.take(10))).toEqual(['a', 'b']);
  });

  it('drains all remaining work', () => {
    add(admission('1'), release('a'));
    expect(idsOf(queue.clear())).toEqual(['a', '1']);
    expect(queue.isEmpty).toBe(true);
  });
});
