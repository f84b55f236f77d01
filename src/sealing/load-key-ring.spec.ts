import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseMasterKey, loadKeyRing } from './key-ring.js';

const CONFIGURED = Buffer.alloc(32, 1).toString('base64');
const PREVIOUS = Buffer.alloc(32, 2).toString('hex');

let parent: string;
let dataDir: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'tollgate-key-ring-'));
  dataDir = join(parent, 'data');
});

afterEach(() => rmSync(parent, { recursive: true, force: true }));

function load(settings: { readonly current?: string; readonly previous?: readonly string[] } = {}) {
  return loadKeyRing({
    TOLLGATE_ENCRYPTION_KEY: settings.current,
    TOLLGATE_ENCRYPTION_KEYS_PREVIOUS: settings.previous ?? [],
    DATA_DIR: dataDir,
  });
}

describe('with a configured key', () => {
  it('uses the configured key and knows the previous ones', () => {
    const ring = load({ current: CONFIGURED, previous: [PREVIOUS] });
    expect(ring.current).toEqual(parseMasterKey(CONFIGURED));
    expect(ring.find(parseMasterKey(PREVIOUS).id)).toBeDefined();
  });

  it('makes no key file when a key is configured', () => {
    load({ current: CONFIGURED });
    expect(existsSync(dataDir)).toBe(false);
  });

  it('refuses a previous key that is not a key', () => {
    expect(() => load({ current: CONFIGURED, previous: ['short'] })).toThrow(/32 bytes/);
  });
});

describe('without a configured key', () => {
  it('makes a key at the first start and reads it at the next', () => {
    expect(load().current).toEqual(load().current);
  });

  it('makes another key in another folder', () => {
    const first = load().current;
    dataDir = join(parent, 'other');
    expect(load().current.id).not.toBe(first.id);
  });

  it('makes a key file that only its owner can read', () => {
    load();
    expect(statSync(join(dataDir, 'encryption.key')).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  it('reads a key file with a line break at its end, as editors leave it', () => {
    const { current } = load();
    const path = join(dataDir, 'encryption.key');
    writeFileSync(path, `${readFileSync(path, 'utf8')}\n`);
    expect(load().current).toEqual(current);
  });

  it('opens values of the key file when the operator configures it as a previous one', () => {
    const { current } = load();
    const inFile = readFileSync(join(dataDir, 'encryption.key'), 'utf8');
    expect(load({ current: CONFIGURED, previous: [inFile] }).find(current.id)).toEqual(current);
  });

  it('makes no key beside a database that has lost its own', () => {
    mkdirSync(join(dataDir, 'postgres'), { recursive: true });
    expect(() => load()).toThrow(/missing.*Restore the file from a backup, or set TOLLGATE_ENCRYPTION_KEY/s);
    expect(readdirSync(dataDir)).toEqual(['postgres']);
    expect(load({ current: CONFIGURED }).current.bytes).toHaveLength(32);
  });

  it('leaves no half of a key where the disk is full, so that a later start makes a whole one', () => {
    const file = JSON.stringify(new URL('../config/encryption-key-file.ts', import.meta.url).href);
    const loader = new URL('../../test/support/runner/typescript.mjs', import.meta.url).href;
    const script = `(await import(${file})).readOrMakeKey(${JSON.stringify(dataDir)})`;
    // No file can have a single byte.
    const node = [process.execPath, '--import', loader, '--input-type=module', '-e', script];
    const { stderr } = spawnSync('sh', ['-c', 'ulimit -f 0 && exec "$@"', 'sh', ...node], { encoding: 'utf8' });
    expect(stderr).toContain('EFBIG');
    expect(readdirSync(dataDir)).toEqual([]);
    expect(load().current.bytes).toHaveLength(32);
  });

  it('refuses a damaged file instead of making a new key, which would lose everything sealed', () => {
    load();
    const path = join(dataDir, 'encryption.key');
    writeFileSync(path, 'damaged');
    expect(() => load()).toThrow(/32 bytes/);
    expect(readFileSync(path, 'utf8')).toBe('damaged');
  });
});
