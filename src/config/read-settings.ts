import { existsSync } from 'node:fs';
import { type AppConfig, loadConfig } from './environment.js';

const ENV_FILE = '.env';

/** The settings for the command line, from where the gateway reads them: the environment, then `.env` in the working folder. */
export function readSettings(): AppConfig {
  if (process.env['NODE_ENV'] !== 'test' && existsSync(ENV_FILE)) process.loadEnvFile(ENV_FILE);
  return loadConfig(process.env);
}
