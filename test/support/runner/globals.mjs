// What specs import from '@jest/globals'. A module that stays loaded for the next file must not keep the `describe` of
// this one, so these look for the functions of the file that is running whenever they are used.
import { jestExpect } from '@jest/expect';
import { jestObject } from './jest-object.mjs';

let running = {};

export function runWith(globals) {
  running = globals;
}

function ofRunningFile(find) {
  return new Proxy(() => {}, {
    apply: (_target, _this, words) => find()(...words),
    get: (_target, name) => ofRunningFile(() => find()[name]),
  });
}

export const expect = jestExpect;
export const jest = jestObject;
export const describe = ofRunningFile(() => running.describe);
export const it = ofRunningFile(() => running.it);
export const test = ofRunningFile(() => running.test);
export const beforeAll = ofRunningFile(() => running.beforeAll);
export const beforeEach = ofRunningFile(() => running.beforeEach);
export const afterEach = ofRunningFile(() => running.afterEach);
export const afterAll = ofRunningFile(() => running.afterAll);
