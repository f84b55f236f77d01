import { beforeEach, describe, expect, it } from '@jest/globals';
import { TestClock } from '../../test/support/test-clock.js';
import { StoreFailures } from './store-failures.js';

/** As the driver throws it, and as it is passed on. */
function failure(code: string | undefined, message: string): Error {
  const driverError = Object.assign(new Error(message), code === undefined ? {} : { code });
  return new Error('the usage store cannot be reached', {
    cause: Object.assign(new Error('a statement failed'), { driverError }),
  });
}

const FULL = failure('53100', 'could not extend file: No space left on device');
const LOCKED = failure('55P03', 'canceling statement due to lock timeout');

let clock: TestClock;
let lines: object[];
let failures: StoreFailures;

beforeEach(() => {
  clock = TestClock.still();
  lines = [];
  failures = new StoreFailures(clock, { warn: (line: object) => void lines.push(line) });
});

function fail(times: number, cause: Error = FULL): void {
  for (let count = 0; count < times; count += 1) failures.note(cause);
}

describe('the line of a failed store', () => {
  it('has the SQLSTATE and the cause, and comes once for many failures', () => {
    fail(790);
    const cause = 'could not extend file: No space left on device';
    expect(lines).toEqual([{ event: 'store_failed', sqlstate: '53100', cause, failures_since: 0 }]);
    clock.advance(10_000);
    fail(1);
    expect(lines[1]).toMatchObject({ failures_since: 789 });
  });

  it('comes at once for another SQLSTATE', () => {
    fail(2);
    fail(2, LOCKED);
    expect(lines).toMatchObject([{ sqlstate: '53100' }, { sqlstate: '55P03', failures_since: 1 }]);
  });

  it('does without a code where the driver has none, and with what is not an error', () => {
    fail(1, failure(undefined, 'Connection terminated'));
    clock.advance(10_000);
    failures.note('text');
    expect(lines).toMatchObject([{ sqlstate: undefined, cause: 'Connection terminated' }, { cause: 'unknown' }]);
  });
});

describe('readiness by recent failures', () => {
  it('is lost after five failures, and comes back ten seconds after the last one', () => {
    fail(4);
    expect(failures.areMany).toBe(false);
    fail(1);
    expect(failures.areMany).toBe(true);
    clock.advance(9_000);
    expect(failures.areMany).toBe(true);
    clock.advance(2_000);
    expect(failures.areMany).toBe(false);
  });

  it.each([undefined, 'ECONNREFUSED', 'EPIPE', '08006', '57P01'])(
    'comes back two seconds after connections were lost (%s), since the probe sees them too',
    (code) => {
      fail(100, failure(code, 'Connection terminated'));
      expect(failures.areMany).toBe(true);
      clock.advance(1_900);
      expect(failures.areMany).toBe(true);
      clock.advance(200);
      expect(failures.areMany).toBe(false);
    },
  );

  it('waits for the slowest of several kinds of failures', () => {
    fail(4);
    fail(1, failure(undefined, 'Connection terminated'));
    clock.advance(9_000);
    expect(failures.areMany).toBe(true);
  });

  it('is not lost for locks of others, for failures that are only logged, nor for those that are far apart', () => {
    fail(100, LOCKED);
    expect(failures.areMany).toBe(false);
    for (let count = 0; count < 10; count += 1) failures.log(FULL);
    expect(failures.areMany).toBe(false);
    for (let count = 0; count < 10; count += 1) {
      fail(1);
      clock.advance(9_000);
    }
    expect(failures.areMany).toBe(false);
  });
});
