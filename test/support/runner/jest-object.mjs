import { syncBuiltinESMExports } from 'node:module';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
// The ticks and microtasks of this process are those of its sockets and streams too.
const LEFT_ALONE = ['nextTick', 'queueMicrotask'];

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

let isFaking = false;
let hasLostTimers = false;

/** What the specs use of `jest`; replacing modules is not among it, because all files of a process share them. */
export const jestObject = {
  fn: mocker.fn.bind(mocker),
  spyOn: mocker.spyOn.bind(mocker),
  restoreAllMocks: () => mocker.restoreAllMocks(),
  clearAllMocks: () => mocker.clearAllMocks(),
  resetAllMocks: () => mocker.resetAllMocks(),
  useFakeTimers({ doNotFake = [], ...settings } = {}) {
    useRealTimers();
    isFaking = true;
    timers.useFakeTimers({ ...settings, doNotFake: [...doNotFake, ...LEFT_ALONE] });
  },
  useRealTimers,
  advanceTimersByTime: (milliseconds) => timers.advanceTimersByTime(milliseconds),
  advanceTimersByTimeAsync: (milliseconds) => timers.advanceTimersByTimeAsync(milliseconds),
  getTimerCount: () => timers.getTimerCount(),
  setSystemTime: (now) => timers.setSystemTime(now),
  setTimeout(milliseconds) {
    globalThis[TIMEOUT] = milliseconds;
  },
};

/** A faked timer that is left will never fire, while what set it may wait for it, such as undici's clock in all later files. */
function useRealTimers() {
  const wasFaking = isFaking;
  if (isFaking && timers.getTimerCount() > 0) hasLostTimers = true;
  isFaking = false;
  timers.useRealTimers();
  // A built-in module that was first imported while its functions were faked would keep the faked ones.
  if (wasFaking) syncBuiltinESMExports();
}

/** As it was before the file that ends now; returns whether that file has left faked timers behind. */
export function putBack() {
  useRealTimers();
  const hadLostTimers = hasLostTimers;
  hasLostTimers = false;
  mocker.restoreAllMocks();
  delete globalThis[TIMEOUT];
  return hadLostTimers;
}
