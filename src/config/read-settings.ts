import { existsSync, readFileSync } from 'node:fs';
import { getDefaultParser } from '@nestjs/config';
import { type AppConfig, loadConfig } from './environment.js';

const ENV_FILE = '.env';

/**
 * The settings of the gateway and of its commands: the environment, then `.env` in the working folder, but not in tests. What
 * the file sets goes into the environment as well, where the SDKs of the clouds look for theirs.
 */
export function readSettings(): AppConfig {
  if (process.env['NODE_ENV'] !== 'test' && existsSync(ENV_FILE)) {
    for (const [name, value] of Object.entries(getDefaultParser()(readFileSync(ENV_FILE)))) {
      // An empty variable counts as absent here too.
      if (!process.env[name]?.trim()) process.env[name] = value;
    }
  }
  return loadConfig(process.env);
}
