import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
// The ticks and microtasks of this process are those of its sockets and streams too.
const LEFT_ALONE = ['nextTick', 'queueMicrotask'];

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

let hasFakedTimers = false;

/** What the specs use of `jest`; replacing modules is not among it, because all files of a process share them. */
export const jestObject = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  clearAllMocks: () => mocker.clearAllMocks(),
  resetAllMocks: () => mocker.resetAllMocks(),
  useFakeTimers({ doNotFake = [], ...settings } = {}) {
    hasFakedTimers = true;
    timers.useFakeTimers({ ...settings, doNotFake: [...doNotFake, ...LEFT_ALONE] });
  },
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (milliseconds) => timers.advanceTimersByTime(milliseconds),
  advanceTimersByTimeAsync: (milliseconds) => timers.advanceTimersByTimeAsync(milliseconds),
  getTimerCount: () => timers.getTimerCount(),
  setSystemTime: (now) => timers.setSystemTime(now),
  setTimeout(milliseconds) {
    globalThis[TIMEOUT] = milliseconds;
  },
};

/** As it was before the file that ends now; answers whether that file has faked the timers. */
export function putBack() {
  const hadFakedTimers = hasFakedTimers;
  hasFakedTimers = false;
  timers.useRealTimers();
  mocker.restoreAllMocks();
  delete globalThis[TIMEOUT];
  return hadFakedTimers;
}
