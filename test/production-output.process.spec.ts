// In production every line of the built gateway is JSON, also those of Node, of libraries and of its end.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { eventually } from './support/eventually.js';
import { GatewayProcess } from './support/gateway-process.js';
import { makeOwnDatabase } from './support/own-database.js';
import { databaseServer, onServer } from './support/services.js';
import { ENCRYPTION_KEY } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

// A start takes two seconds of a processor that other test files use as well.
jest.setTimeout(90_000);

const PRODUCTION = { NODE_ENV: 'production', TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };
/** What a library may do at any time: print, warn, fail. */
const LIBRARY = `
  process.on('SIGUSR2', () => {
    console.log('two\\nlines of %s', 'a library');
    console.error(new Error('printed'));
    process.emitWarning('something is deprecated');
    setTimeout(() => Promise.reject(new TypeError('value of a caller')), 50);
  });`;

let folder: string;
let gateway: GatewayProcess | undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-production-'));
});
afterEach(() => gateway?.kill());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function spawnGateway(settings: Readonly<Record<string, string>>): GatewayProcess {
  return (gateway = new GatewayProcess(settings, folder));
}

/** @throws SyntaxError for a line that is not JSON */
function linesOf(output: string): readonly unknown[] {
  const read = (line: string): unknown => JSON.parse(line);
  return output.trimEnd().split('\n').filter(Boolean).map(read);
}

describe('the output in production', () => {
  it('has one JSON line for each print of a library, each warning, and the error that ends the gateway', async () => {
    const { settings } = await testDatabase();
    const library = `--import=data:text/javascript,${encodeURIComponent(LIBRARY)}`;
    const running = spawnGateway({ ...settings, ...PRODUCTION, NODE_OPTIONS: library });
    await running.url();
    running.signal('SIGUSR2');
    expect(await running.exitCode()).toBe(1);
    expect(linesOf(running.stderr)).toMatchObject([
      { level: 'info', event: 'console', message: 'two\nlines of a library' },
      { level: 'error', event: 'console', message: expect.stringMatching(/^Error: printed\n/) },
      { level: 'warn', event: 'warning', message: 'Warning: something is deprecated' },
      { level: 'fatal', event: 'crashed', name: 'TypeError', stack: expect.any(Array) },
    ]);
    expect(running.stderr).not.toContain('value of a caller');
    expect(linesOf(running.stdout)[0]).toMatchObject({ event: 'starting', environment: 'production' });
  });

  it('has one JSON line for a refusal to start, also when .env says that this is production', async () => {
    const file = join(folder, '.env');
    writeFileSync(file, 'NODE_ENV=production\n');
    try {
      const refused = spawnGateway({});
      expect(await refused.exitCode()).toBe(1);
      expect(linesOf(refused.stderr)).toMatchObject([
        { level: 'fatal', event: 'start_failed', message: expect.stringContaining('- DATABASE_URL is required') },
      ]);
      expect(refused.stdout).toBe('');
    } finally {
      rmSync(file);
    }
  });
});

onServer('a wait for migrations in production (needs DATABASE_URL: production has no embedded database)', () => {
  it('is one JSON line, before the log begins with the report of the start', async () => {
    const own = await makeOwnDatabase(databaseServer ?? '');
    const other = new Client({ connectionString: own.url });
    await other.connect();
    try {
      await other.query('SELECT pg_advisory_lock($1)', [7_160_233]);
      const waiting = spawnGateway({ ...PRODUCTION, DATABASE_URL: own.url });
      await eventually(() => waiting.stderr.includes('\n'), 60_000);
      expect(linesOf(waiting.stderr)).toMatchObject([{ level: 'info', event: 'migration_waits' }]);
      await other.query('SELECT pg_advisory_unlock($1)', [7_160_233]);
      await waiting.url();
      expect(linesOf(waiting.stdout)[0]).toMatchObject({ event: 'starting' });
    } finally {
      await gateway?.kill();
      await other.end();
      await own.drop();
    }
  });
});
