import { createHash } from 'node:crypto';
import { wrapError } from '../common/errors/describe-error.js';
import { keyFileOf, readOrMakeKey } from '../config/encryption-key-file.js';
import type { AppConfig } from '../config/environment.js';

/** A master key with the short name that is written into what it seals. */
export interface MasterKey {
  /** 8 hexadecimal digits of the key's hash: they identify the key and reveal nothing of it. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** The current master key, which seals, and the previous ones, which still open. */
export class KeyRing {
  private readonly keys: ReadonlyMap<string, MasterKey>;

  constructor(
    readonly current: MasterKey,
    previous: readonly MasterKey[] = [],
  ) {
    this.keys = new Map([current, ...previous].map((key) => [key.id, key]));
  }

  find(id: string): MasterKey | undefined {
    return this.keys.get(id);
  }
}

/** Reads a key of 32 bytes from hexadecimal digits or base64 (standard or URL-safe). */
export function parseMasterKey(text: string): MasterKey {
  const bytes = /^[0-9a-fA-F]{64}$/.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length !== 32) throw new Error('a master key has 32 bytes');
  return { id: createHash('sha256').update('tollgate master key').update(bytes).digest('hex').slice(0, 8), bytes };
}

type KeySettings = Pick<AppConfig, 'TOLLGATE_ENCRYPTION_KEY' | 'TOLLGATE_ENCRYPTION_KEYS_PREVIOUS' | 'DATA_DIR'>;

/** The master keys from the settings. With the embedded database a key is made in its folder at the first start. */
export function loadKeyRing(settings: KeySettings): KeyRing {
  const { TOLLGATE_ENCRYPTION_KEY: chosen, TOLLGATE_ENCRYPTION_KEYS_PREVIOUS: previous, DATA_DIR: dataDir } = settings;
  const current = chosen === undefined ? keyInDataDir(dataDir) : parseMasterKey(chosen);
  return new KeyRing(current, previous.map(parseMasterKey));
}

function keyInDataDir(dataDir: string): MasterKey {
  try {
    return parseMasterKey(readOrMakeKey(dataDir));
  } catch (cause) {
    throw wrapError(`The encryption key in ${keyFileOf(dataDir)} cannot be used (its folder is DATA_DIR)`, cause);
  }
}
