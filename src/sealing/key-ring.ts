import { createHash } from 'node:crypto';

/** A master key with the short name that is written into what it seals. */
export interface MasterKey {
  /** 8 hexadecimal digits of the key's hash: tells keys apart, tells nothing of the key. */
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
