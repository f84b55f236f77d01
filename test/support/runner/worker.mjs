import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { emptyFramework } from './framework.mjs';
import { runWith } from './globals.mjs';
import { jestObject, putBack } from './jest-object.mjs';

const require = createRequire(import.meta.url);
const { default: runWithCircus } = require('jest-circus/runner');

process.on('disconnect', () => process.exit());
process.on('message', (message) => {
  if (message === 'end') process.exit();
  void runFile(message);
});

async function runFile({ path, globalConfig, projectConfig }) {
  const environment = { ...process.env };
  const startedAt = Date.now();
  const answer = {};
  try {
    for (const file of projectConfig.setupFiles) await load(file);
    const result = await runWithCircus(globalConfig, projectConfig, { global: globalThis }, modules, path);
    // Values of a failed comparison can be bigints, which JSON does not have. The failure's message shows them.
    const testResults = result.testResults.map((test) => ({ ...test, failureDetails: [] }));
    answer.result = {
      ...result,
      testResults,
      perfStats: timesSince(startedAt, projectConfig),
      skipped: hasOnlySkipped(result),
    };
  } catch ({ message, stack }) {
    answer.error = { message, stack };
  }
  const hasFakedTimers = putBack();
  putBackEnvironment(environment);
  // Code that ran meanwhile may keep a faked timer, or a faked function of a built-in module, without end: end this process.
  answer.isSpent = hasFakedTimers || process.memoryUsage.rss() > globalConfig.workerIdleMemoryLimit;
  process.send(answer);
}

/** The part of jest's runtime that its test framework calls, on top of Node's own modules. */
const modules = {
  requireInternalModule: emptyFramework,
  setGlobalsForRuntime: runWith,
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: load,
  requireModule: require,
  restoreAllMocks: jestObject.restoreAllMocks,
  clearAllMocks: jestObject.clearAllMocks,
  resetAllMocks: jestObject.resetAllMocks,
  enterTestCode() {},
  leaveTestCode() {},
};

async function load(file) {
  await import(pathToFileURL(file).href);
}

function timesSince(start, { slowTestThreshold }) {
  const end = Date.now();
  return { start, end, runtime: end - start, slow: (end - start) / 1000 > slowTestThreshold };
}

function hasOnlySkipped({ testResults }) {
  return testResults.every(({ status }) => status === 'pending');
}

function putBackEnvironment(environment) {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
}
