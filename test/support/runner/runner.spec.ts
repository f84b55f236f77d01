import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { runScript, type ScriptRun } from '../run-script.js';

const JEST = fileURLToPath(new URL('../../../node_modules/jest/bin/jest.js', import.meta.url));
const RUNNER = fileURLToPath(new URL('runner.mjs', import.meta.url));

describe('The runner of the tests', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tollgate-runner-'));
  });

  afterEach(() => rm(folder, { recursive: true }));

  it('runs a file once more when Node crashed in it, and never one that failed', async () => {
    const run = await runSpecs({
      crashed: `if (starts === 1) process.kill(process.pid, 'SIGTRAP');`,
      crashing: `process.kill(process.pid, 'SIGSEGV');`,
      failed: `if (starts === 1) throw new Error('failed');`,
      ended: `if (starts === 1) process.exit(3);`,
      killed: `if (starts === 1) process.kill(process.pid, 'SIGKILL');`,
    });

    const names = (await starts()).map(({ name = '' }) => name).toSorted((one, other) => one.localeCompare(other));
    expect(names).toEqual(['crashed', 'crashed', 'crashing', 'crashing', 'ended', 'failed', 'killed']);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('4 failed, 1 passed, 5 total');
    const told = [...run.stderr.matchAll(/^CRASH OF NODE in .*\/(\w+)\.spec\.mjs: .*: (\w+)\. It runs again/gm)];
    expect(new Set(told.map(([, name, signal]) => `${name} ${signal}`))).toEqual(
      new Set(['crashed SIGTRAP', 'crashing SIGSEGV']),
    );
  });

  it('keeps its process after most files, and ends it after one that fakes timers', async () => {
    await runSpecs({ one: '', two: '' });
    expect(await processes()).toBe(1);
    await runSpecs({ one: 'jest.useFakeTimers();', two: 'jest.useFakeTimers(); jest.useRealTimers();', three: '' });
    expect(await processes()).toBeGreaterThan(2);
  });

  /** Each of these files has one test, which writes down its file and process before it runs the code. */
  async function runSpecs(files: Readonly<Record<string, string>>): Promise<ScriptRun> {
    for (const [name, code] of Object.entries(files)) {
      const spec = `
        import { appendFileSync, readFileSync } from 'node:fs';
        import { it, jest } from '@jest/globals';
        it('runs', async () => {
          appendFileSync(${JSON.stringify(startsFile())}, '${name} ' + process.pid + '\\n');
          const starts = readFileSync(${JSON.stringify(startsFile())}, 'utf8').split('${name}').length - 1;
          ${code}
        });`;
      await writeFile(join(folder, `${name}.spec.mjs`), spec);
    }
    const config = {
      displayName: 'unit',
      rootDir: folder,
      cacheDirectory: folder,
      runner: RUNNER,
      testMatch: ['**/*.spec.mjs'],
      transform: {},
      workerIdleMemoryLimit: '1GB',
    };
    return runScript(JEST, ['--runInBand', '--config', JSON.stringify(config)]);
  }

  function startsFile(): string {
    return join(folder, 'starts');
  }

  async function starts(): Promise<readonly { readonly name?: string; readonly process?: string }[]> {
    const lines = (await readFile(startsFile(), 'utf8')).trim().split('\n');
    return lines.map((line) => {
      const [name, process] = line.split(' ');
      return { name, process };
    });
  }

  async function processes(): Promise<number> {
    return new Set((await starts()).map(({ process }) => process)).size;
  }
});
