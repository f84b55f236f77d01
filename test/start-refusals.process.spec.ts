// What the built gateway prints when it cannot start. More causes: start-refusals.app.spec.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { GatewayProcess } from './support/gateway-process.js';
import { makeOwnDatabase, runStatement } from './support/own-database.js';
import { databaseServer, onServer } from './support/services.js';
import { ADMIN_KEY, ENCRYPTION_KEY } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

// A start takes two seconds of CPU, which other test files use too.
jest.setTimeout(90_000);

let folder: string;
let gateway: GatewayProcess | undefined;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-no-start-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => gateway?.kill());

/** The error output of a gateway with only these settings, after it has exited with 1. */
async function complaintAbout(settings: Readonly<Record<string, string>>): Promise<string> {
  gateway = new GatewayProcess(settings, folder);
  expect(await gateway.exitCode()).toBe(1);
  return gateway.stderr;
}

/** Settings for this worker's database. */
async function onTestDatabase(): Promise<Readonly<Record<string, string>>> {
  const database = await testDatabase();
  await database.empty();
  return { ...database.settings, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };
}

function isOneLine(text: string): boolean {
  return text.indexOf('\n') === text.length - 1;
}

describe('a gateway that cannot start', () => {
  it('names every invalid setting and shows no value', async () => {
    const settings = { NODE_ENV: 'value-1', PORT: 'value-2', LOG_LEVEL: 'value-3', TOLLGATE_ENCRYPTION_KEY: 'value-4' };
    const complaint = await complaintAbout(settings);
    for (const name of Object.keys(settings)) expect(complaint).toContain(`- ${name} `);
    expect(complaint + gateway?.stdout).not.toMatch(/value-\d/);
    expect(complaint).not.toMatch(/^\s+at /m);
  });

  it('reports that the database does not answer, without the password', async () => {
    const settings = {
      DATABASE_URL: 'postgres://user:hunter2@localhost:1/tollgate',
      TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
    };
    const complaint = await complaintAbout(settings);
    expect(complaint).toContain('DATABASE_URL cannot be reached: connect ECONNREFUSED');
    expect(complaint).not.toContain('hunter2');
    expect(isOneLine(complaint)).toBe(true);
  });

  // 192.0.2.0/24 is reserved for documentation (RFC 5737): no machine has such an address.
  it('names HOST when the machine does not have that address', async () => {
    const complaint = await complaintAbout({
      ...(await onTestDatabase()),
      HOST: '192.0.2.1',
      TOLLGATE_ADMIN_KEY: ADMIN_KEY,
    });
    expect(complaint).toMatch(/^The gateway cannot listen on HOST and PORT: .*192\.0\.2\.1/);
    expect(isOneLine(complaint)).toBe(true);
  });
});

onServer('a gateway whose role has few connections (needs DATABASE_URL: the embedded database has no roles)', () => {
  const PASSWORD = 'hunter2';

  /** What a gateway complains of that logs in as a role of its own, after `statement` about the role or the database. */
  async function complaintAfter(
    statement: (name: string) => string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const own = await makeOwnDatabase(databaseServer ?? '');
    const name = new URL(own.url).pathname.slice(1);
    await runStatement(own.url, `CREATE ROLE "${name}" LOGIN PASSWORD '${PASSWORD}'`);
    await runStatement(own.url, `GRANT ALL ON SCHEMA public TO "${name}"`);
    await runStatement(own.url, statement(name));
    const url = Object.assign(new URL(own.url), { username: name, password: PASSWORD });
    try {
      return await complaintAbout({ DATABASE_URL: url.href, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY, ...settings });
    } finally {
      await gateway?.kill();
      await own.drop();
      await runStatement(databaseServer ?? '', `DROP ROLE "${name}"`);
    }
  }

  it.each([
    ['no connection', (name: string) => `ALTER ROLE "${name}" CONNECTION LIMIT 0`, {}, ': too many connections'],
    [
      'one connection',
      (name: string) => `ALTER ROLE "${name}" CONNECTION LIMIT 1`,
      { DATABASE_POOL_SIZE: '1' },
      ': the role ".+" (CONNECTION LIMIT) allows 1 at a time, and a gateway needs 2$',
    ],
    [
      'fewer than the pool',
      (name: string) => `ALTER ROLE "${name}" CONNECTION LIMIT 9`,
      {},
      ': the role ".+" (CONNECTION LIMIT) allows 9 at a time, and a gateway needs 10$',
    ],
    [
      'fewer in its database',
      (name: string) => `ALTER DATABASE "${name}" CONNECTION LIMIT 9`,
      {},
      ': the database ".+" (CONNECTION LIMIT) allows 9 at a time, and a gateway needs 10$',
    ],
  ])('names DATABASE_POOL_SIZE when the role may open %s', async (_what, statement, settings, reason) => {
    const complaint = await complaintAfter(statement, settings);
    const pattern = reason.replaceAll(/[()]/g, '\\$&');
    expect(complaint).toMatch(
      new RegExp(`^The database of DATABASE_URL has no room for DATABASE_POOL_SIZE${pattern}`, 'm'),
    );
    expect(isOneLine(complaint)).toBe(true);
  });
});
