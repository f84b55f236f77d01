import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wrapError } from '../common/errors/describe-error.js';
import type { AppConfig } from '../config/environment.js';
import { KeyRing, type MasterKey, parseMasterKey } from './key-ring.js';

type KeySettings = Pick<AppConfig, 'TOLLGATE_ENCRYPTION_KEY' | 'TOLLGATE_ENCRYPTION_KEYS_PREVIOUS' | 'DATA_DIR'>;

/** The master keys from the settings. With the embedded database a key is made in its folder at the first start. */
export function loadKeyRing(settings: KeySettings): KeyRing {
  const { TOLLGATE_ENCRYPTION_KEY: chosen, TOLLGATE_ENCRYPTION_KEYS_PREVIOUS: previous, DATA_DIR: dataDir } = settings;
  const current = chosen === undefined ? keyInDataDir(dataDir) : parseMasterKey(chosen);
  return new KeyRing(current, previous.map(parseMasterKey));
}

function keyInDataDir(dataDir: string): MasterKey {
  const path = join(dataDir, 'encryption.key');
  try {
    if (!existsSync(path)) {
      mkdirSync(dataDir, { recursive: true, mode: 0o700 });
      writeFileSync(path, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
    }
    return parseMasterKey(readFileSync(path, 'utf8').trim());
  } catch (cause) {
    throw wrapError(`The encryption key in ${path} cannot be used (its folder is DATA_DIR)`, cause);
  }
}
