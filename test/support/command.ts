import { afterEach, beforeAll } from '@jest/globals';
import { type Command, runCommand } from '../../src/cli/command.js';
import { loadConfig } from '../../src/config/environment.js';
import { ENCRYPTION_KEY, startTestApp, type TestApp } from './test-app.js';
import { testDatabase } from './test-database.js';

const KEY_FORM = /tg_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/g;

export interface CommandRun {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the command line with only these settings. */
export async function runWithSettings(
  command: Command,
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<CommandRun> {
  let stdout = '';
  let stderr = '';
  const code = await runCommand(command, {
    words,
    readSettings: () => loadConfig(settings),
    print: (text) => void (stdout += text),
    printError: (text) => void (stderr += text),
  });
  return { code, stdout, stderr };
}

/** Runs a command of the command line on this worker's database. */
export async function runOnTestDatabase(
  command: Command,
  words: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<CommandRun> {
  const database = await testDatabase();
  return runWithSettings(command, words, {
    ...database.settings,
    TOLLGATE_ENCRYPTION_KEY: ENCRYPTION_KEY,
    ...settings,
  });
}

/** The gateway keys that a command prints. */
export function keysIn({ stdout, stderr }: CommandRun): readonly string[] {
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
