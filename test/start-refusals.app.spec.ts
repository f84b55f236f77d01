// The causes for which a gateway cannot start, and what its operator reads.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { messageForOperator } from '../src/common/errors/describe-error.js';
import { makeOwnDatabase, type OwnDatabase, runStatement } from './support/own-database.js';
import { databaseServer, onServer } from './support/services.js';
import { ADMIN_KEY, ENCRYPTION_KEY, startTestApp } from './support/test-app.js';

/** PostgreSQL requires a locale that matches the encoding. */
const LATIN1 = `TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'`;
const KEY_FORM = /tg_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/;
const EMBEDDED = { DATABASE_URL: '' };

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-no-start-'));
});
// The embedded database of a start that was refused may still be writing its files.
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));

/** What the operator reads when a gateway with these settings cannot start. */
async function complaintAbout(settings: Readonly<Record<string, string>>): Promise<string> {
  const started = await startTestApp(settings).catch((error: unknown) => messageForOperator(error));
  if (typeof started === 'string') return started;
  await started.close();
  throw new Error('the gateway has started');
}

function isOneLine(text: string): boolean {
  return !text.includes('\n');
}

describe('a gateway that cannot start', () => {
  it('detects a mistyped admin key and does not show it', async () => {
    const mistyped = ADMIN_KEY.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    const complaint = await complaintAbout({ TOLLGATE_ADMIN_KEY: mistyped });
    expect(complaint).toMatch(/^TOLLGATE_ADMIN_KEY is mistyped/);
    expect(complaint).not.toMatch(KEY_FORM);
  });

  it('names the file of a damaged encryption key', async () => {
    const dataDir = join(folder, 'damaged');
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'encryption.key'), 'damaged');
    const complaint = await complaintAbout({ ...EMBEDDED, DATA_DIR: dataDir, TOLLGATE_ENCRYPTION_KEY: '' });
    expect(complaint).toContain(`${dataDir}/encryption.key cannot be used (its folder is DATA_DIR): `);
    expect(isOneLine(complaint)).toBe(true);
  });

  it('names DATA_DIR when its folder cannot be created', async () => {
    const dataDir = join(folder, 'file');
    writeFileSync(dataDir, '');
    const settings = { ...EMBEDDED, DATA_DIR: dataDir };
    const complaint = await complaintAbout(settings);
    // The signing key and the database both make it; which one comes first is open.
    expect(complaint).toMatch(/DATA_DIR.* cannot be used: EEXIST|cannot be used \(its folder is DATA_DIR\): EEXIST/);
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
      await runStatement(database.url, `CREATE ROLE "${role}" LOGIN PASSWORD '${PASSWORD}'`);
      await runStatement(database.url, 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
    });
    afterAll(async () => {
      await database.drop();
      await runStatement(databaseServer ?? '', `DROP ROLE "${role}"`);
    });

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
      expect(complaint).toBe('The database of DATABASE_URL cannot be used: it takes no writes (a standby does not)');
    });

    it('reports a database whose encoding cannot store every text', async () => {
      const western = await makeOwnDatabase(databaseServer ?? '', {}, LATIN1);
      try {
        const complaint = await complaintAbout({ DATABASE_URL: western.url, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY });
        expect(complaint).toBe(
          'The database of DATABASE_URL cannot be used: its encoding is LATIN1, and has to be UTF8',
        );
      } finally {
        await western.drop();
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
