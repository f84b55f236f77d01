import { LRUCache } from 'lru-cache';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { SecretError, type SecretDocument, type SecretErrorCode } from './secret-manager.types.js';
import type { VaultAnswer } from './vault-http.js';
import { encodePath, guessDataPath, toDataPath } from './vault-path.js';
import { VaultTokenRefused, type VaultSend } from './vault-session.js';

const MAX_REMEMBERED = 1_000;
/** What Vault answers where no mount is: "permission denied" to those who may not know. */
const MISSES: ReadonlySet<SecretErrorCode> = new Set(['not_found', 'access_denied']);
/** `generic` is what version 1 was called before Vault 0.8. */
const KV_TYPES = ['kv', 'generic'];

export interface VaultSecret {
  readonly path: string;
  /** undefined: the current one. */
  readonly version: string | undefined;
  /** undefined: to be found out. */
  readonly kvVersion: string | undefined;
}

/** One way to read a secret. `kvVersion` undefined: the answer will show it. */
interface Reading {
  readonly path: string;
  readonly kvVersion: '1' | '2' | undefined;
}

interface Mount {
  /** With a slash at its end. */
  readonly path: string;
  readonly kvVersion: '1' | '2';
}

/** Reads from the key/value engines that one session sees, and remembers where each begins and which version it has. */
export class VaultKv {
  private readonly mounts = new LRUCache<string, Mount>({ max: MAX_REMEMBERED });
  /** What worked for a path whose mount may not be looked up. */
  private readonly guesses = new LRUCache<string, Reading>({ max: MAX_REMEMBERED });

  /** @throws SecretError */
  async read(send: VaultSend, secret: VaultSecret): Promise<SecretDocument> {
    const known = this.knownMount(secret.path);
    if (known === undefined) return this.readAgain(send, secret);
    try {
      return await readFrom(send, secret, [readingAt(known, secret)]).then(documentOf);
    } catch (error) {
      if (!(error instanceof SecretError) || error.code !== 'not_found') throw error;
      // The engine may have been replaced since, by one of the other version.
      this.mounts.delete(known.path);
      const mount = await probe(send, secret);
      if (mount?.path === known.path) this.mounts.set(mount.path, mount);
      if (mount?.path === known.path && mount.kvVersion === known.kvVersion) throw error;
      return this.readAgain(send, secret);
    }
  }

  private async readAgain(send: VaultSend, secret: VaultSecret): Promise<SecretDocument> {
    if (secret.kvVersion !== undefined) return this.readFixed(send, secret);
    const mount = this.knownMount(secret.path) ?? (await probe(send, secret));
    if (mount !== undefined) {
      this.mounts.set(mount.path, mount);
      return documentOf(await readFrom(send, secret, [readingAt(mount, secret)]));
    }
    const worked = this.guesses.get(secret.path);
    const asGiven: Reading = { path: secret.path, kvVersion: secret.version === undefined ? undefined : '2' };
    const readings: Reading[] = [asGiven, { path: guessDataPath(secret.path), kvVersion: '2' }];
    const found = await readFrom(send, secret, worked === undefined ? readings : [worked, ...readings]);
    this.guesses.set(secret.path, found.reading);
    return documentOf(found);
  }

  /** With a version that is given, only a mount of several segments has to be looked up. */
  private async readFixed(send: VaultSend, secret: VaultSecret): Promise<SecretDocument> {
    const guess = fixedReading(secret);
    try {
      return await readFrom(send, secret, [guess]).then(documentOf);
    } catch (error) {
      if (!(error instanceof SecretError) || !MISSES.has(error.code) || guess.kvVersion === '1') throw error;
      const mount = await probe(send, secret);
      if (mount === undefined) throw error;
      this.mounts.set(mount.path, mount);
      const reading = readingAt(mount, secret);
      if (reading.path === guess.path) throw error;
      return readFrom(send, secret, [reading]).then(documentOf);
    }
  }

  private knownMount(path: string): Mount | undefined {
    for (const mount of this.mounts.values()) {
      if (path.startsWith(mount.path)) return this.mounts.get(mount.path);
    }
    return undefined;
  }
}

interface Found {
  readonly reading: Reading;
  readonly document: SecretDocument;
}

function documentOf({ document }: Found): SecretDocument {
  return document;
}

function fixedReading({ path, kvVersion, version }: VaultSecret): Reading {
  if (kvVersion === '2') return { path: guessDataPath(path), kvVersion };
  if (version !== undefined) throw noVersions();
  return { path, kvVersion: '1' };
}

function readingAt(mount: Mount, { path, version }: VaultSecret): Reading {
  if (mount.kvVersion === '2') return { path: toDataPath(path, mount.path), kvVersion: '2' };
  if (version !== undefined) throw noVersions();
  return { path, kvVersion: '1' };
}

function noVersions(): SecretError {
  return new SecretError('invalid_request', 'the engine is KV version 1, which keeps one version of a secret');
}

/**
 * The engine that a path leads to, of the version that is given or else its own; undefined when the token may not know,
 * or the server is too old to say.
 */
async function probe(send: VaultSend, { path, kvVersion }: VaultSecret): Promise<Mount | undefined> {
  const answer = await send({ method: 'GET', path: `sys/internal/ui/mounts/${encodePath(path)}`, isFree: true });
  if (answer.status >= 300) return undefined;
  const { data } = answer.body;
  if (!isObject(data) || typeof data['path'] !== 'string' || data['path'] === '') {
    throw new SecretError('invalid_response', 'expected the mount of the secret at data.path');
  }
  if (!KV_TYPES.some((type) => type === data['type'])) {
    throw new SecretError('invalid_request', `the mount ${data['path']} is not a key/value engine`);
  }
  // A path that begins with a namespace: the mount is named without it.
  if (!path.startsWith(data['path'])) return undefined;
  const options = isObject(data['options']) ? data['options'] : {};
  return { path: data['path'], kvVersion: (kvVersion ?? options['version']) === '2' ? '2' : '1' };
}

/** Tries one reading after the other; of the failures, "not found" says more than "permission denied". */
async function readFrom(send: VaultSend, secret: VaultSecret, readings: readonly Reading[]): Promise<Found> {
  const query = secret.version === undefined ? '' : `?version=${encodeURIComponent(secret.version)}`;
  const tried = new Set<string>();
  let failure: SecretError | undefined;
  for (const reading of readings) {
    if (tried.has(reading.path)) continue;
    tried.add(reading.path);
    const answer = await send({ method: 'GET', path: encodePath(reading.path) + query });
    if (answer.status < 300) return { reading, document: readDocument(answer.body, reading.kvVersion) };
    const next = refusalOf(answer);
    if (next.code !== 'not_found' && !(next instanceof VaultTokenRefused)) throw next;
    if (failure?.code !== 'not_found') failure = next;
  }
  throw failure ?? new SecretError('invalid_request', 'nothing to read');
}

function refusalOf(answer: VaultAnswer): SecretError {
  const { status, body, detail } = answer;
  if (status === 403) return new VaultTokenRefused(detail);
  if (status === 401) return new SecretError('authentication_failed', detail);
  if (status !== 404) return new SecretError('invalid_request', detail);
  return isGone(body['data']) ? new SecretError('deleted', detail) : new SecretError('not_found', detail);
}

/** What KV version 2 shows of a version that was deleted or destroyed. */
function isGone(data: unknown): boolean {
  return isObject(data) && data['data'] === null && isObject(data['metadata']);
}

function readDocument({ data, lease_id }: JsonObject, kvVersion: '1' | '2' | undefined): SecretDocument {
  // Key/value engines give no leases. Others would make a new credential with each read.
  if (typeof lease_id === 'string' && lease_id !== '') {
    throw new SecretError('invalid_request', 'the path is not in a key/value engine: it gives leased credentials');
  }
  if (!isObject(data)) throw new SecretError('invalid_response', 'expected an object at data');
  if (kvVersion === '1' || (kvVersion === undefined && !isVersioned(data))) return { kind: 'fields', fields: data };
  if (isGone(data)) throw new SecretError('deleted', 'the version has no data any more');
  if (!isObject(data['data'])) throw new SecretError('invalid_response', 'expected an object at data.data');
  return { kind: 'fields', fields: data['data'] };
}

/** Whether this is what version 2 wraps around a secret. Version 1 could hold the like, but it is not written by hand. */
function isVersioned({ data, metadata }: JsonObject): boolean {
  return (isObject(data) || data === null) && isObject(metadata) && typeof metadata['version'] === 'number';
}
