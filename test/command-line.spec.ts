import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { publicIdOf } from '../src/api-keys/api-key-format.js';
import { loadConfig } from '../src/config/environment.js';
import { BuiltProgram } from './support/gateway-process.js';

jest.setTimeout(60_000);

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function run(name: string, environment: Readonly<Record<string, string>> = {}): Promise<BuiltProgram> {
  const file = fileURLToPath(new URL(`../dist/src/cli/${name}.js`, import.meta.url));
  const program = new BuiltProgram(file, environment, folder);
  await program.exitCode();
  return program;
}

describe('keys:generate', () => {
  it('prints two lines for an env file, which the gateway takes', async () => {
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

describe('keys:rewrap', () => {
  it('reads .env of its working folder as the gateway does, and names what is wrong there without its value', async () => {
    writeFileSync(join(folder, '.env'), 'LOG_LEVEL=value-1\nPORT=value-2\n');
    const program = await run('rewrap-keys', { PORT: '8080' });
    expect(await program.exitCode()).toBe(1);
    expect(program.stderr).toContain('- LOG_LEVEL ');
    expect(program.stderr).not.toMatch(/PORT|value-\d|^\s+at /m);
    expect(program.stdout).toBe('');
  });
});
