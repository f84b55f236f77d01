// Who may import whom. A room is a folder of src/; its row lists the rooms that it may import besides itself and `common`,
// which is free to all. Where the code proves a row wrong, change the row in the same commit and say why there.
const EVERY_ROOM = 'every room';
const ROOMS = {
  // 7: puts the whole together (and so do the files directly in src/)
  cli: EVERY_ROOM,
  openapi: EVERY_ROOM,
  // the HTTP server around the application: Express adapter, body guard, malformed requests, error filter, shutdown
  server: EVERY_ROOM,
  // 6: what callers use
  // inference for the usage of a chat, and usage for the size of a model, both of which runs have
  assistants: 'inference gateway upstream usage',
  // upstream for the jobs and S3 files of Bedrock, which both rooms map
  // inference for the forms of the calls in a batch, and usage for what their models can write at most
  batches: 'inference gateway upstream usage',
  'fine-tuning': 'gateway upstream',
  // usage for what models can write at most, model-routes for the models that a key may use
  inference: 'gateway model-routes upstream usage telemetry config',
  rerank: 'gateway upstream telemetry',
  mcp: 'identity secret-references webhooks usage idempotency workspaces audit upstream sealing telemetry access database config',
  // usage for what limits count as tokens
  // upstream and sealing for the bodies of calls, audit for who reads them
  'request-logs': 'usage workspaces audit upstream sealing telemetry access database config',
  // usage for its reports; what needs attention is read from the tables of many rooms, by SQL alone
  overview: 'usage access',
  // telemetry for the recent failures of the store
  health: 'config redis telemetry access database',
  // telemetry for what production has to say in its log
  'first-start': 'virtual-keys api-keys workspaces telemetry config',
  // 5: one provider call, from reservation to settlement; config for the lease and for models without a price; database for what
  // an index says about a job that is recorded twice
  gateway: 'model-routes virtual-keys policies usage upstream telemetry access database config',
  // 4: what a call needs
  'virtual-keys':
    'secret-references webhooks idempotency workspaces audit upstream sealing telemetry access database config',
  // virtual-keys for those that a route leads to, usage and upstream for the models that are known, policies for conditions of targets
  'model-routes': 'virtual-keys policies usage idempotency workspaces audit upstream redis access database',
  // virtual-keys for its table: a simulated call names a key, which must be one that the caller may use; upstream for the names of providers
  policies: 'virtual-keys usage api-keys idempotency workspaces audit upstream telemetry access database',
  identity: 'api-keys upstream sealing telemetry access config',
  // 3
  'secret-references': 'webhooks idempotency workspaces audit upstream sealing telemetry access database config',
  // 2: who calls, and how much
  // virtual-keys for those that a key may use, and the one that it uses when a call names none
  'api-keys': 'virtual-keys idempotency workspaces audit upstream sealing redis telemetry access database config',
  webhooks: 'idempotency workspaces audit upstream sealing telemetry access database config',
  // audit and upstream for prices: an administrator sets them, and names a provider
  usage: 'idempotency workspaces audit upstream telemetry access database config',
  // 1
  // config for where bodies of calls can be kept
  workspaces: 'idempotency audit access database config',
  audit: 'access database',
  // a repeated create returns the same answer
  idempotency: 'sealing telemetry access database',
  sealing: 'config',
  redis: 'telemetry config',
  // 0
  upstream: 'config',
  telemetry: 'access config',
  database: 'config',
  access: '',
  config: '',
  common: '',
};

const NOT_SHIPPED = ['[.]spec[.]ts$', '/__fixtures__/'];

function roomRule(room, allowed) {
  const free = [room, 'common', ...allowed.split(' ').filter(Boolean)];
  return {
    name: `room-${room}`,
    comment: `${free.join(', ')} may be imported here, nothing else: see the table in .dependency-cruiser.cjs`,
    severity: 'error',
    from: { path: `^src/${room}/`, pathNot: NOT_SHIPPED },
    to: { path: '^src/', pathNot: `^src/(${free.join('|')})/` },
  };
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...Object.entries(ROOMS)
      .filter(([, allowed]) => allowed !== EVERY_ROOM)
      .map(([room, allowed]) => roomRule(room, allowed)),
    {
      name: 'room-without-a-row',
      comment: 'Every folder of src/ has a row in the table of .dependency-cruiser.cjs.',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/(${Object.keys(ROOMS).join('|')})/` },
      to: {},
    },
    {
      name: 'no-circular',
      comment: 'Move what both need into a file (or a room) below them.',
      severity: 'error',
      // Two entities of one room may relate to each other, typed Relation<T>. A cycle with any other file in it is still
      // found, from that file. The console's client of the API is generated.
      from: { pathNot: ['[.]entity[.]ts$', '^console/src/api/'] },
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'Nothing imports this file and it imports nothing: dead, or never wired in.',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: NOT_SHIPPED },
      to: {},
    },
    {
      name: 'src-never-imports-tests',
      comment: 'What is shipped must not need what is not: test/, spec files, fixtures.',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: NOT_SHIPPED },
      to: { path: ['^test/', ...NOT_SHIPPED] },
    },
    {
      name: 'src-never-imports-dev-dependencies',
      comment: 'The image has no development dependencies: move the package to "dependencies".',
      severity: 'error',
      from: { path: '^(src|migrations)/', pathNot: NOT_SHIPPED },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm'] },
    },
    {
      name: 'unit-specs-need-no-database',
      comment:
        'Name it x.app.spec.ts or x.once.spec.ts (CONTRIBUTING.md has the rule): it needs what jest makes for those alone.',
      severity: 'error',
      from: { path: '[.]spec[.]ts$', pathNot: '[.](app|once|process)[.]spec[.]ts$' },
      to: { path: '^test/support/(test-app|test-database|own-database|services)[.]ts$', reachable: true },
    },
    {
      name: 'programs-run-in-process-specs',
      comment: 'Name it x.process.spec.ts: it needs a build.',
      severity: 'error',
      from: { path: '[.]spec[.]ts$', pathNot: '[.]process[.]spec[.]ts$' },
      to: { path: '^test/support/gateway-process[.]ts$', reachable: true },
    },
    {
      name: 'console-lib-is-below-its-pages',
      comment: 'Move what both need into console/src/lib.',
      severity: 'error',
      from: { path: '^console/src/(lib|api)/' },
      to: { path: '^console/src/(components|pages)/' },
    },
    {
      name: 'console-components-are-below-its-pages',
      comment: 'Move what both need into console/src/components.',
      severity: 'error',
      from: { path: '^console/src/components/' },
      to: { path: '^console/src/pages/' },
    },
    {
      name: 'migrations-stand-alone',
      comment: 'A migration must do the same in a year, whatever src/ looks like then.',
      severity: 'error',
      from: { path: '^migrations/' },
      to: { path: '^src/', pathNot: '^src/common/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Packages of their own.
    exclude: { path: '^test/(?:clients|agents)/' },
    tsConfig: { fileName: 'tsconfig.json' },
    // Imports of types count as well: they decide what a reader must know.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
