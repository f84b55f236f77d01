// jest-circus keeps the tests and listeners of a file until its module is loaded again. Each load leaves an AsyncLocalStorage
// behind, for which Node 20 does work on every promise, and listeners that later files call. So it is loaded once.
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const LISTENERS = Symbol.for('EVENT_HANDLERS');

let own;

/** The framework without tests and listeners of earlier files. */
export function emptyFramework(file) {
  const framework = require(file);
  own ??= { listeners: globalThis[LISTENERS].length, state: stateSymbol(), parts: require('jest-circus') };
  globalThis[LISTENERS].splice(own.listeners);
  own.parts.resetState();
  globalThis[own.state] = own.parts.getState();
  return framework;
}

/** Each copy of jest-circus has a symbol of its own: the framework is one, `jest-circus` another. */
function stateSymbol() {
  const found = Object.getOwnPropertySymbols(globalThis).filter(
    ({ description }) => description === 'JEST_STATE_SYMBOL',
  );
  if (found.length !== 1) throw new Error(`jest-circus keeps its tests in ${found.length} places, not in one`);
  return found[0];
}
