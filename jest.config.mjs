// Which of the four a spec is, its name says: CONTRIBUTING.md has the rule.
const SPECS = {
  // Of the process specs, the one that tries Node and the embedded database as a user has them.
  start: ['**/start.process.spec.ts'],
  process: ['**/*.process.spec.ts', '!**/start.process.spec.ts'],
  app: ['**/*.app.spec.ts'],
  once: ['**/*.once.spec.ts'],
  unit: ['**/!(*.app|*.once|*.process).spec.ts'],
};

function project(name, more) {
  return {
    displayName: name,
    roots: ['<rootDir>/src', '<rootDir>/test', '<rootDir>/scripts'],
    testMatch: SPECS[name],
    runner: './test/support/runner/runner.mjs',
    transform: {},
    setupFiles: ['reflect-metadata'],
    modulePathIgnorePatterns: ['<rootDir>/test/clients/'],
    ...more,
  };
}

export default {
  projects: [
    ...['start', 'process'].map((name) =>
      project(name, {
        globalSetup: './test/support/set-up-process.mjs',
        globalTeardown: './test/support/global-teardown.mjs',
      }),
    ),
    ...['app', 'once'].map((name) =>
      project(name, {
        globalSetup: './test/support/set-up-app.mjs',
        globalTeardown: './test/support/global-teardown.mjs',
      }),
    ),
    project('unit'),
  ],
  testSequencer: './test/support/runner/sequencer.mjs',
  // Many specs wait for a time limit: four keep two cores busy.
  maxWorkers: 4,
  workerIdleMemoryLimit: '1GB',
  // Of a test that hangs. Many take half a minute on a machine that is busy with something else.
  testTimeout: 90_000,
};
