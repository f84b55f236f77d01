import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';

const LIMIT_MS = 90_000;

export interface ScriptRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of a package to its end, in a separate process and in the program's own folder. */
export async function runScript(
  file: string,
  words: readonly string[],
  nodeOptions: readonly string[] = [],
): Promise<ScriptRun> {
  const { PATH = '' } = process.env;
  const child = spawn(process.execPath, [...nodeOptions, file, ...words], {
    cwd: dirname(file),
    env: { PATH, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LIMIT_MS,
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  await once(child, 'close');
  return { code: child.exitCode, stdout, stderr };
}
