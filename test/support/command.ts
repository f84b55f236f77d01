import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { BuiltProgram } from './gateway-process.js';
import { ENCRYPTION_KEY } from './test-app.js';
import { testDatabase } from './test-database.js';

const KEY_FORM = /tg_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/g;

/** A built command of `src/cli`, on this worker's database, at its end. */
export async function runCommand(
  name: string,
  words: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<BuiltProgram> {
  const file = fileURLToPath(new URL(`../../dist/src/cli/${name}.js`, import.meta.url));
  const environment = { ...(await testDatabase()).settings, TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY, ...settings };
  const program = new BuiltProgram(file, environment, tmpdir(), words);
  await program.exitCode();
  return program;
}

/** The gateway keys that a command shows. */
export function keysIn({ stdout, stderr }: BuiltProgram): readonly string[] {
  return (stdout + stderr).match(KEY_FORM) ?? [];
}
