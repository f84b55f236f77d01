import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { publicIdOf } from '../src/api-keys/api-key-format.js';
import { loadConfig } from '../src/config/environment.js';
import { BuiltProgram } from './support/gateway-process.js';

const TOLLGATE_ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64');

jest.setTimeout(60_000);

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
});
afterEach(() => rmSync(join(folder, '.env'), { force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(
  name: string,
  environment: Readonly<Record<string, string>> = {},
  words: readonly string[] = [],
): Promise<BuiltProgram> {
  const file = fileURLToPath(new URL(`../dist/src/cli/${name}.js`, import.meta.url));
  const program = new BuiltProgram(file, environment, folder, words);
  await program.exitCode();
  return program;
}

describe('keys:generate', () => {
  it('prints two lines for an env file, which the gateway accepts', async () => {
    const { stdout, stderr } = await run('generate-keys');
    const lines = stdout.trimEnd().split('\n');
    const settings = Object.fromEntries(lines.map((line) => /^(\w+)=(.+)$/.exec(line)?.slice(1) ?? []));
    expect(Object.keys(settings)).toEqual(['TOLLGATE_ADMIN_KEY', 'TOLLGATE_ENCRYPTION_KEY']);
    expect(stderr).toBe('');

    const { TOLLGATE_ADMIN_KEY = '', TOLLGATE_ENCRYPTION_KEY = '' } = loadConfig(settings);
    expect(publicIdOf(TOLLGATE_ADMIN_KEY)).toBeDefined();
    expect(Buffer.from(TOLLGATE_ENCRYPTION_KEY, 'base64')).toHaveLength(32);
  });
});

it('keys:generate prints nothing to stdout for an unknown argument', async () => {
  const program = await run('generate-keys', {}, ['--help']);
  expect([await program.exitCode(), program.stdout]).toEqual([2, '']);
  expect(program.stderr).toContain('usage: npm run keys:generate');
});

it.each([['rewrap-keys'], ['../main']])(
  '%s reads .env in its working directory and reports mistakes there without their values',
  async (name) => {
    const lines = [
      'PORT=value-1',
      'LOG_LEVEL: value-2',
      'export NODE_ENV=value-3',
      'DATA_DIR="a \\"b\\""',
      'REDIS_URL=value-4',
    ];
    writeFileSync(join(folder, '.env'), lines.join('\n'));
    // An empty value counts as absent, in the environment too.
    const program = await run(name, { PORT: '8080', REDIS_URL: ' ', NODE_ENV: '' });
    expect(await program.exitCode()).toBe(1);
    for (const setting of ['LOG_LEVEL', 'NODE_ENV', 'REDIS_URL']) expect(program.stderr).toContain(`- ${setting} `);
    expect(program.stderr).not.toMatch(/PORT|DATA_DIR|value-\d|^\s+at /m);
    expect(program.stdout).toBe('');
  },
);

describe('keys:rewrap', () => {
  it.each([['--help'], ['--dry-run']])('keys:rewrap does nothing for the unknown argument %s', async (word) => {
    const program = await run('rewrap-keys', {}, [word]);
    expect([await program.exitCode(), program.stdout]).toEqual([2, '']);
    expect(program.stderr).toContain('usage: npm run keys:rewrap');
  });
});

describe.each([
  ['rewrap-keys', []],
  ['make-admin-key', []],
  ['create-organisation', ['new']],
])('%s', (name, words) => {
  it('names DATABASE_URL without its password when the database does not answer', async () => {
    const DATABASE_URL = 'postgres://user:hunter2@127.0.0.1:1/tollgate';
    const program = await run(name, { DATABASE_URL, TOLLGATE_ENCRYPTION_KEY, LOG_LEVEL: 'info', PORT: '8080' }, words);
    expect(await program.exitCode()).toBe(1);
    expect(program.stderr).toContain('The database of DATABASE_URL cannot be reached: connect ECONNREFUSED');
    expect(program.stderr).not.toMatch(/hunter2|^\s+at /m);
  });

  it('creates no database in a folder without one, such as a wrong working directory', async () => {
    const DATA_DIR = join(folder, `none-${name}`);
    const program = await run(name, { DATA_DIR, LOG_LEVEL: 'info', PORT: '8080' }, words);
    expect(await program.exitCode()).toBe(1);
    expect(program.stderr).toContain(`there is no embedded database in ${DATA_DIR} (DATA_DIR)`);
    expect(existsSync(DATA_DIR)).toBe(false);
  });

  it('reports that an empty database needs a first start of the gateway', async () => {
    const DATA_DIR = join(folder, `empty-${name}`);
    mkdirSync(join(DATA_DIR, 'postgres'), { recursive: true });
    // Without it, the gateway would take the database for one whose key is lost.
    const settings = { DATA_DIR, TOLLGATE_ENCRYPTION_KEY, LOG_LEVEL: 'info', PORT: '8080' };
    const program = await run(name, settings, words);
    expect(await program.exitCode()).toBe(1);
    expect(program.stderr).toBe('The database has no tables yet: the first start of the gateway creates them.\n');
  });
});
