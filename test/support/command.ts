import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll } from '@jest/globals';
import { BuiltProgram } from './gateway-process.js';
import { ENCRYPTION_KEY, startTestApp, type TestApp } from './test-app.js';
import { testDatabase } from './test-database.js';

const KEY_FORM = /tg_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/g;

/** A built command of `src/cli` on this worker's database, after it has exited. */
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

/** The gateway keys that a command prints. */
export function keysIn({ stdout, stderr }: BuiltProgram): readonly string[] {
  return (stdout + stderr).match(KEY_FORM) ?? [];
}

/**
 * A gateway that runs only between commands, since the embedded database has one session: it is created once for its tables
 * and its organisation, and closed after each test that has started it.
 */
export function gatewayBetweenCommands(): { start(): Promise<TestApp> } {
  let gateway: TestApp | undefined;
  beforeAll(async () => (await startTestApp()).close());
  afterEach(async () => {
    await gateway?.close();
    gateway = undefined;
  });
  return { start: async () => (gateway = await startTestApp({}, true)) };
}
