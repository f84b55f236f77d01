import { messageForOperator } from '../common/errors/describe-error.js';
import type { AppConfig } from '../config/environment.js';

/** What a command is given, and where it prints. */
export interface CommandCall {
  readonly words: readonly string[];
  /** @throws InvalidConfigError */
  readonly readSettings: () => AppConfig;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
}

/** Resolves with the exit code, or rejects: see `runCommand`. */
export type Command = (call: CommandCall) => Promise<number>;

/** The words after the command are not those that it takes. The message is its usage. */
export class UsageError extends Error {}

/** The exit code: 1 after an error, 2 after words that the command does not take. The error is printed. */
export async function runCommand(command: Command, call: CommandCall): Promise<number> {
  try {
    return await command(call);
  } catch (error) {
    call.printError(`${messageForOperator(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}
