import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { GatewayProcess } from './support/gateway-process.js';
import { makeOwnDatabase, type OwnDatabase } from './support/own-database.js';
import { databaseServer, onServer } from './support/services.js';
import { ADMIN_KEY, ENCRYPTION_KEY } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

/** PostgreSQL requires a locale that matches the encoding. */
const LATIN1 = `TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'`;
const KEY_FORM = /tg_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/;

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

  it('requires DATABASE_URL in production', async () => {
    expect(await complaintAbout({ NODE_ENV: 'production' })).toContain('DATABASE_URL is required');
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

  it('detects a mistyped admin key and does not show it', async () => {
    const mistyped = ADMIN_KEY.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    const complaint = await complaintAbout({ ...(await onTestDatabase()), TOLLGATE_ADMIN_KEY: mistyped });
    expect(complaint).toMatch(/^TOLLGATE_ADMIN_KEY is mistyped/);
    expect(complaint + gateway?.stdout).not.toMatch(KEY_FORM);
  });

  it('names the file of a damaged encryption key', async () => {
    const dataDir = join(folder, 'damaged');
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'encryption.key'), 'damaged');
    const complaint = await complaintAbout({ DATA_DIR: dataDir });
    expect(complaint).toContain(`${dataDir}/encryption.key cannot be used (its folder is DATA_DIR): `);
    expect(isOneLine(complaint)).toBe(true);
  });

  it('names DATA_DIR when its folder cannot be created', async () => {
    const dataDir = join(folder, 'file');
    writeFileSync(dataDir, '');
    const settings = { DATA_DIR: dataDir, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };
    const complaint = await complaintAbout(settings);
    expect(complaint).toContain('cannot be used (its folder is DATA_DIR): EEXIST');
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

onServer(
  'a gateway that cannot use its database (needs DATABASE_URL: the embedded one has no others and no roles)',
  () => {
    const PASSWORD = 'hunter2';
    let database: OwnDatabase;
    let role: string;

    beforeAll(async () => {
      database = await makeOwnDatabase(databaseServer ?? '');
      role = new URL(database.url).pathname.slice(1);
      await run(`CREATE ROLE "${role}" LOGIN PASSWORD '${PASSWORD}'`);
      await run('REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    });
    afterAll(async () => {
      await database.drop();
      await run(`DROP ROLE "${role}"`, databaseServer ?? '');
    });

    async function run(statement: string, url = database.url): Promise<void> {
      const client = new Client({ connectionString: url });
      await client.connect();
      try {
        await client.query(statement);
      } finally {
        await client.end();
      }
    }

    function changed(change: (url: URL) => void): Readonly<Record<string, string>> {
      const url = new URL(database.url);
      change(url);
      return { DATABASE_URL: url.href, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };
    }

    it('names DATABASE_URL when its database does not exist', async () => {
      const settings = changed((url) => (url.pathname = '/tollgate_missing'));
      const complaint = await complaintAbout(settings);
      expect(complaint).toContain('DATABASE_URL cannot be used: database "tollgate_missing" does not exist');
      expect(isOneLine(complaint)).toBe(true);
    });

    it('reports a database that accepts no writes, such as a standby', async () => {
      const settings = changed((url) => url.searchParams.set('options', '-c default_transaction_read_only=on'));
      const complaint = await complaintAbout(settings);
      expect(complaint).toBe('The database of DATABASE_URL cannot be used: it takes no writes (a standby does not)\n');
    });

    it('reports a database whose encoding cannot store every text', async () => {
      const western = await makeOwnDatabase(databaseServer ?? '', {}, LATIN1);
      try {
        const complaint = await complaintAbout({ DATABASE_URL: western.url, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY });
        expect(complaint).toBe(
          'The database of DATABASE_URL cannot be used: its encoding is LATIN1, and has to be UTF8\n',
        );
      } finally {
        await gateway?.kill();
        await western.drop();
      }
    });

    it('names DATABASE_POOL_SIZE when the role may not open as many connections', async () => {
      const own = await makeOwnDatabase(databaseServer ?? '');
      const name = new URL(own.url).pathname.slice(1);
      await run(`CREATE ROLE "${name}" LOGIN PASSWORD '${PASSWORD}' CONNECTION LIMIT 1`);
      await run(`GRANT ALL ON SCHEMA public TO "${name}"`, own.url);
      const url = Object.assign(new URL(own.url), { username: name, password: PASSWORD });
      try {
        const complaint = await complaintAbout({ DATABASE_URL: url.href, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY });
        expect(complaint).toMatch(
          /^The database of DATABASE_URL has no room for DATABASE_POOL_SIZE: too many connections/,
        );
        expect(isOneLine(complaint)).toBe(true);
      } finally {
        await gateway?.kill();
        await own.drop();
        await run(`DROP ROLE "${name}"`);
      }
    });

    it('names DATABASE_URL without the password when its role may not create tables', async () => {
      const settings = changed((url) => Object.assign(url, { username: role, password: PASSWORD }));
      const complaint = await complaintAbout(settings);
      expect(complaint).toContain('DATABASE_URL could not be brought up to date: permission denied for schema public');
      expect(complaint).not.toContain(PASSWORD);
      expect(isOneLine(complaint)).toBe(true);
    });
  },
);
