import type { AppConfig } from '../config/environment.js';
import { readSettings } from '../config/read-settings.js';
import { hasEmbeddedDatabase } from '../database/embedded/embedded-database.js';

/**
 * The settings of a command that works on the gateway's database. Where there is none, as in a wrong working folder, a
 * command must not begin one.
 * @throws Error
 */
export function readCommandSettings(): AppConfig {
  const settings = readSettings();
  if (settings.DATABASE_URL === undefined) assertEmbeddedDatabase(settings.DATA_DIR);
  return settings;
}

export function assertEmbeddedDatabase(dataDir: string): void {
  if (!hasEmbeddedDatabase(dataDir)) throw new Error(`there is no embedded database in ${dataDir} (DATA_DIR)`);
}
