// The built command line in a process of its own. What each command does: the specs of the commands.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { publicIdOf } from '../src/api-keys/api-key-format.js';
import { loadConfig } from '../src/config/environment.js';
import { BuiltProgram } from './support/gateway-process.js';
import { ENCRYPTION_KEY, startTestApp } from './support/test-app.js';
import { testDatabase } from './support/test-database.js';

const COMMAND_LINE = 'cli/main';
const COMMANDS = [
  'database:copy',
  'keys:admin',
  'keys:generate',
  'keys:rewrap',
  'organisations:create',
  'prices:import',
];

jest.setTimeout(60_000);

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
});
afterEach(() => rmSync(join(folder, '.env'), { force: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(
  program: string,
  words: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<BuiltProgram> {
  const file = fileURLToPath(new URL(`../dist/src/${program}.js`, import.meta.url));
  const started = new BuiltProgram(file, environment, folder, words);
  await started.exitCode();
  return started;
}

it('keys:generate prints two lines for an env file, which the gateway accepts', async () => {
  const { stdout, stderr } = await run(COMMAND_LINE, ['keys:generate']);
  const lines = stdout.trimEnd().split('\n');
  const settings = Object.fromEntries(lines.map((line) => /^(\w+)=(.+)$/.exec(line)?.slice(1) ?? []));
  expect(Object.keys(settings)).toEqual(['TOLLGATE_ADMIN_KEY', 'TOLLGATE_ENCRYPTION_KEY']);
  expect(stderr).toBe('');

  const { TOLLGATE_ADMIN_KEY = '', TOLLGATE_ENCRYPTION_KEY = '' } = loadConfig(settings);
  expect(publicIdOf(TOLLGATE_ADMIN_KEY)).toBeDefined();
  expect(Buffer.from(TOLLGATE_ENCRYPTION_KEY, 'base64')).toHaveLength(32);
});

it('a command works on the database of the environment', async () => {
  await (await startTestApp()).close();
  const environment = { ...(await testDatabase()).settings, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY };
  const program = await run(COMMAND_LINE, ['organisations:create', 'acme', 'Acme Corporation'], environment);
  expect([program.stderr, await program.exitCode()]).toEqual(['', 0]);
  expect(program.stdout).toContain('Organisation acme (');
});

describe('the command line', () => {
  it.each([[[]], [['keys']], [['constructor']]])('lists its commands after %j', async (words) => {
    const program = await run(COMMAND_LINE, words);
    expect([await program.exitCode(), program.stdout]).toEqual([2, '']);
    expect(program.stderr).toBe(`usage: node dist/src/cli/main.js <${COMMANDS.join('|')}> …\n`);
  });

  it('has a usage for each command, printed for words that the command does not take', async () => {
    for (const name of COMMANDS) {
      const program = await run(COMMAND_LINE, [name, '--help', 'more', 'words']);
      expect([name, await program.exitCode(), program.stdout]).toEqual([name, 2, '']);
      expect(program.stderr).toContain(`usage: npm run ${name}`);
      expect(program.stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });
});

it.each([
  ['cli/main', ['keys:rewrap']],
  ['main', []],
])(
  '%s %j reads .env in its working directory and reports mistakes there without their values',
  async (program, words) => {
    const lines = [
      'PORT=value-1',
      'LOG_LEVEL: value-2',
      'export NODE_ENV=value-3',
      'DATA_DIR="a \\"b\\""',
      'REDIS_URL=value-4',
    ];
    writeFileSync(join(folder, '.env'), lines.join('\n'));
    // An empty value counts as absent, in the environment too.
    const ended = await run(program, words, { PORT: '8080', REDIS_URL: ' ', NODE_ENV: '' });
    expect(await ended.exitCode()).toBe(1);
    for (const setting of ['LOG_LEVEL', 'NODE_ENV', 'REDIS_URL']) expect(ended.stderr).toContain(`- ${setting} `);
    expect(ended.stderr).not.toMatch(/PORT|DATA_DIR|value-\d|^\s+at /m);
    expect(ended.stdout).toBe('');
  },
);
