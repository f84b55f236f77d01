import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
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

  it('runs a file once more when Node crashed in it, and says so', async () => {
    const run = await runSpec(`if (starts === 1) process.kill(process.pid, 'SIGTRAP');`);

    expect({ code: run.code, starts: await starts() }).toEqual({ code: 0, starts: 2 });
    expect(run.stderr).toMatch(/CRASH OF NODE in .*x\.spec\.mjs: .* SIGTRAP/);
  });

  it('fails a file in which Node crashes twice', async () => {
    const run = await runSpec(`process.kill(process.pid, 'SIGSEGV');`);

    expect({ code: run.code, starts: await starts() }).toEqual({ code: 1, starts: 2 });
    expect(run.stderr).toContain('the process of the tests ended before they did: SIGSEGV');
  });

  it.each([
    ['that fails', `if (starts === 1) throw new Error('failed');`],
    ['that ends its process', `if (starts === 1) process.exit(3);`],
    ['whose process was killed', `if (starts === 1) process.kill(process.pid, 'SIGKILL');`],
  ])('never repeats a test %s', async (_case, code) => {
    const run = await runSpec(code);

    expect({ code: run.code, starts: await starts() }).toEqual({ code: 1, starts: 1 });
    expect(run.stderr).not.toContain('CRASH OF NODE');
  });

  /** A spec file of its own, which leaves a file `start-<process>` at each start. */
  async function runSpec(code: string): Promise<ScriptRun> {
    const spec = `
      import { readdirSync, writeFileSync } from 'node:fs';
      import { it } from '@jest/globals';
      it('runs', async () => {
        writeFileSync(${JSON.stringify(join(folder, 'start-'))} + process.pid, '');
        const starts = readdirSync(${JSON.stringify(folder)}).filter((name) => name.startsWith('start-')).length;
        ${code}
      });`;
    await writeFile(join(folder, 'x.spec.mjs'), spec);
    const config = {
      displayName: 'unit',
      rootDir: folder,
      runner: RUNNER,
      testMatch: ['**/*.spec.mjs'],
      transform: {},
    };
    return runScript(JEST, ['--config', JSON.stringify(config)]);
  }

  async function starts(): Promise<number> {
    return (await readdir(folder)).filter((name) => name.startsWith('start-')).length;
  }
});
