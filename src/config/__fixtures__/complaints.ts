import { InvalidConfigError, loadConfig } from '../environment.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The message that a wrong environment stops the gateway with. */
export function complaintAbout(environment: Environment): string {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof InvalidConfigError) return error.message;
    throw error;
  }
  throw new Error('the environment was accepted');
}

/** Names of the settings at the start of the lines of a complaint. */
export function namedIn(complaint: string): ReadonlySet<string | undefined> {
  const [, ...lines] = complaint.split('\n');
  return new Set(lines.map((line) => /([A-Z][A-Z0-9_]+)/.exec(line)?.[1]));
}
