import { existsSync, readFileSync } from 'node:fs';
import { getDefaultParser } from '@nestjs/config';

const ENV_FILE = '.env';

/**
 * Puts what `.env` in the working folder sets into the environment, where the SDKs of the clouds look for theirs; not in tests.
 * What the environment has already wins.
 */
export function readEnvironmentFile(): void {
  if (process.env['NODE_ENV'] === 'test' || !existsSync(ENV_FILE)) return;
  for (const [name, value] of Object.entries(getDefaultParser()(readFileSync(ENV_FILE)))) {
    // An empty variable counts as absent here too.
    if (!process.env[name]?.trim()) process.env[name] = value;
  }
}
