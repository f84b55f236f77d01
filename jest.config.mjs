const swc = [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      keepClassNames: true,
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  },
];

export default {
  roots: ['<rootDir>/src', '<rootDir>/test'],
  testMatch: ['<rootDir>/src/**/*.spec.ts', '<rootDir>/test/**/*.spec.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': swc },
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': ['$1.ts', '$1.js'] },
  setupFiles: ['reflect-metadata'],
  globalSetup: './test/support/global-setup.mjs',
  globalTeardown: './test/support/global-teardown.mjs',
  // ES modules of finished test files are not freed, so workers are replaced when they grow.
  maxWorkers: 2,
  workerIdleMemoryLimit: '700MB',
  testTimeout: 30_000,
};
