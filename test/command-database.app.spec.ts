// What every command says when it cannot use its database.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createOrganisation } from '../src/cli/create-organisation.js';
import { makeAdminKey } from '../src/cli/make-admin-key.js';
import { rewrapKeys } from '../src/cli/rewrap-keys.js';
import { runWithSettings } from './support/command.js';
import { makeOwnDatabase } from './support/own-database.js';
import { databaseServer } from './support/services.js';
import { ENCRYPTION_KEY } from './support/test-app.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-command-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each([
  ['keys:rewrap', rewrapKeys, []],
  ['keys:admin', makeAdminKey, []],
  ['organisations:create', createOrganisation, ['new']],
])('%s', (_name, command, words) => {
  it('names DATABASE_URL without its password when the database does not answer', async () => {
    const DATABASE_URL = 'postgres://user:hunter2@127.0.0.1:1/tollgate';
    const run = await runWithSettings(command, words, { DATABASE_URL, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY });
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toContain('The database of DATABASE_URL cannot be reached: connect ECONNREFUSED');
    expect(run.stderr).not.toMatch(/hunter2|^\s+at /m);
  });

  it('creates no database in a folder without one, such as a wrong working directory', async () => {
    const DATA_DIR = join(folder, 'none');
    const run = await runWithSettings(command, words, { DATA_DIR });
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toContain(`there is no embedded database in ${DATA_DIR} (DATA_DIR)`);
    expect(existsSync(DATA_DIR)).toBe(false);
  });
});

describe('a command on an empty database', () => {
  const empty = { TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };

  async function expectRefusal(settings: Readonly<Record<string, string>>): Promise<void> {
    const run = await runWithSettings(rewrapKeys, [], { ...empty, ...settings });
    expect([run.code, run.stdout]).toEqual([1, '']);
    expect(run.stderr).toBe('The database has no tables yet: the first start of the gateway creates them.\n');
  }

  it('reports that the database needs a first start of the gateway', async () => {
    if (databaseServer === undefined) {
      const DATA_DIR = join(folder, 'empty');
      mkdirSync(join(DATA_DIR, 'postgres'), { recursive: true });
      return expectRefusal({ DATA_DIR });
    }
    const database = await makeOwnDatabase(databaseServer);
    try {
      await expectRefusal({ DATABASE_URL: database.url });
    } finally {
      await database.drop();
    }
  });
});
