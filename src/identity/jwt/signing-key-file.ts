import { generateKeyPair } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readRsaPrivateKey } from '../../common/crypto/rsa-pem.js';
import { wrapError } from '../../common/errors/describe-error.js';
import { writeKeyFile } from '../../config/encryption-key-file.js';
import type { AppConfig } from '../../config/environment.js';

const FILE = 'signing.key';
const makeKeyPair = promisify(generateKeyPair);

type Settings = Pick<AppConfig, 'JWT_PRIVATE_KEY' | 'DATABASE_URL' | 'DATA_DIR' | 'NODE_ENV'>;

/** Whether the gateway makes a key where the settings have none. */
export function makesSigningKey({ DATABASE_URL, NODE_ENV }: Pick<Settings, 'DATABASE_URL' | 'NODE_ENV'>): boolean {
  return DATABASE_URL === undefined && NODE_ENV !== 'production';
}

/**
 * The private key that signs identities, as PEM. On the embedded database, which one gateway has for itself, a key is made at
 * the first start and kept beside the encryption key. undefined elsewhere: replicas that each made one would disagree, and in
 * production a lost key must not be replaced silently.
 */
export async function readSigningKey(settings: Settings): Promise<string | undefined> {
  const { JWT_PRIVATE_KEY: chosen, DATA_DIR: dataDir } = settings;
  if (chosen !== undefined || !makesSigningKey(settings)) return chosen;
  const path = join(dataDir, FILE);
  try {
    if (!existsSync(path)) {
      const { privateKey } = await makeKeyPair('rsa', {
        modulusLength: 2048,
        publicKeyEncoding: { type: 'spki', format: 'pem' },
        privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      });
      writeKeyFile(path, privateKey);
    }
    const pem = readFileSync(path, 'utf8');
    readRsaPrivateKey(pem);
    return pem;
  } catch (cause) {
    throw wrapError(`The signing key in ${path} cannot be used (its folder is DATA_DIR)`, cause);
  }
}
