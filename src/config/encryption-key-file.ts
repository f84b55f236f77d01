import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { errorCodeOf } from '../common/errors/describe-error.js';

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
    writeKeyFile(path, randomBytes(32).toString('base64'));
  }
  return readFileSync(path, 'utf8').trim();
}

/** Makes a new file that only its owner can read. A full disk leaves no file: the next start would take half a key for the key. */
export function writeKeyFile(path: string, key: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, key, { mode: 0o600, flag: 'wx', flush: true });
  } catch (cause) {
    // Another process may have made it meanwhile.
    if (errorCodeOf(cause) !== 'EEXIST') rmSync(path, { force: true });
    throw cause;
  }
}

const MISSING =
  'it is missing, but the folder has a database whose credentials it encrypts. Restore the file from a backup, ' +
  'or set TOLLGATE_ENCRYPTION_KEY to its content. Nothing was written';
