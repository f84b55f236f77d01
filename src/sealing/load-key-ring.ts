import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppConfig } from '../config/environment.js';
import { KeyRing, parseMasterKey } from './key-ring.js';

type KeySettings = Pick<AppConfig, 'TOLLGATE_ENCRYPTION_KEY' | 'TOLLGATE_ENCRYPTION_KEYS_PREVIOUS' | 'DATA_DIR'>;

/** The master keys from the settings. With the embedded database a key is made in its folder at the first start. */
export function loadKeyRing(settings: KeySettings): KeyRing {
  const current = settings.TOLLGATE_ENCRYPTION_KEY ?? keyInDataDir(settings.DATA_DIR);
  return new KeyRing(parseMasterKey(current), settings.TOLLGATE_ENCRYPTION_KEYS_PREVIOUS.map(parseMasterKey));
}

function keyInDataDir(dataDir: string): string {
  const path = join(dataDir, 'encryption.key');
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(path, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  }
  return readFileSync(path, 'utf8').trim();
}
