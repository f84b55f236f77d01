import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { loadConfig } from '../../config/environment.js';
import { readSigningKey } from './signing-key-file.js';
import { SigningKeys } from './signing-keys.js';

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-signing-'));
  file = join(folder, 'signing.key');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('readSigningKey', () => {
  it('makes a key in DATA_DIR for its owner alone, and keeps it', async () => {
    const settings = loadConfig({ DATA_DIR: folder });
    const pem = await readSigningKey(settings);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await readSigningKey(settings)).toBe(pem);
    expect(readFileSync(file, 'utf8')).toBe(pem);
    expect(new SigningKeys({ JWT_PRIVATE_KEY: pem ?? '' }).current).toBeDefined();
  });

  it('makes none beside a key of the settings', async () => {
    const pem = await readSigningKey(loadConfig({ DATA_DIR: folder }));
    rmSync(file);
    expect(await readSigningKey(loadConfig({ DATA_DIR: folder, JWT_PRIVATE_KEY: pem ?? '' }))).toBe(pem);
    expect(existsSync(file)).toBe(false);
  });

  it('makes none on a database server or in production', async () => {
    const settings = { DATA_DIR: folder, NODE_ENV: 'development' } as const;
    const url = 'postgres://db.example.com/tollgate';
    expect(await readSigningKey({ ...settings, DATABASE_URL: url })).toBeUndefined();
    expect(await readSigningKey({ ...settings, NODE_ENV: 'production' })).toBeUndefined();
    expect(existsSync(file)).toBe(false);
  });

  it('refuses a file that has no key, and does not replace it', async () => {
    writeFileSync(file, 'not a key');
    await expect(readSigningKey(loadConfig({ DATA_DIR: folder }))).rejects.toThrow(file);
    expect(readFileSync(file, 'utf8')).toBe('not a key');
  });
});
