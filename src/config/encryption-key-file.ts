import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the embedded database, in DATA_DIR. */
export const DATABASE_FOLDER = 'postgres';
const FILE = 'encryption.key';

export function keyFileOf(dataDir: string): string {
  return join(dataDir, FILE);
}

/**
 * The encryption key of the embedded database; it is made where neither exists. Call it before the database is made.
 * @throws Error when there is a database and no key: another key would open nothing of what it holds
 */
export function readOrMakeKey(dataDir: string): string {
  const path = keyFileOf(dataDir);
  if (!existsSync(path)) {
    if (existsSync(join(dataDir, DATABASE_FOLDER))) throw new Error(MISSING);
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(path, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  }
  return readFileSync(path, 'utf8').trim();
}

const MISSING =
  'it is missing, but the folder has a database whose credentials it encrypts. Restore the file from a backup, ' +
  'or set TOLLGATE_ENCRYPTION_KEY to its content. Nothing was written';
