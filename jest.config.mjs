export default {
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts'],
  runner: './test/support/runner/runner.mjs',
  transform: {},
  setupFiles: ['reflect-metadata'],
  globalSetup: './test/support/global-setup.mjs',
  globalTeardown: './test/support/global-teardown.mjs',
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
  testTimeout: 30_000,
};
