import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { KeyRing, MasterKey } from './key-ring.js';

/** Where a sealed value lives. It is bound to this place: copied to another row or column it does not open. */
export interface SealedPlace {
  readonly organisationId: string;
  readonly table: string;
  readonly rowId: string;
  readonly field: string;
}

/** The place of a column's values, in tables whose rows belong to an organisation. */
export function placeIn(
  table: string,
  field: string,
): (row: { readonly id: string; readonly organisationId: string }) => SealedPlace {
  return ({ id: rowId, organisationId }) => ({ organisationId, table, rowId, field });
}

/** A value could not be opened: wrong place, damaged, or sealed by a master key that the gateway was not given. */
export class SealError extends Error {
  constructor(reason: string, options?: { cause?: unknown }) {
    super(`a sealed value does not open: ${reason}`, options);
    this.name = 'SealError';
  }
}

const VERSION = 'v1';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Envelope encryption with AES-256-GCM. Every value has a data key of its own, which the master key wraps, so that a new
 * master key re-wraps 32 bytes a value and never sees the value.
 * Form: `v1.<master key id>.<wrapped data key>.<ciphertext>`, both parts nonce ‖ ciphertext ‖ tag in base64url.
 */
export class Sealer {
  constructor(private readonly keys: KeyRing) {}

  seal(plaintext: string | Buffer, place: SealedPlace): string {
    const dataKey = randomBytes(KEY_BYTES);
    const aad = toAad(place);
    const body = encrypt(dataKey, typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext, aad);
    return join(this.keys.current, encrypt(this.keys.current.bytes, dataKey, aad), body);
  }

  /** @throws SealError */
  open(sealed: string, place: SealedPlace): string {
    return this.openBytes(sealed, place).toString();
  }

  /** @throws SealError */
  openBytes(sealed: string, place: SealedPlace): Buffer {
    const { master, wrapped, body } = this.split(sealed);
    const aad = toAad(place);
    return decrypt(decrypt(master.bytes, wrapped, aad), body, aad);
  }

  /** The same value wrapped by the current master key; undefined when it already is. */
  rewrap(sealed: string, place: SealedPlace): string | undefined {
    const { master, wrapped, body } = this.split(sealed);
    if (master.id === this.keys.current.id) return undefined;
    const aad = toAad(place);
    return join(this.keys.current, encrypt(this.keys.current.bytes, decrypt(master.bytes, wrapped, aad), aad), body);
  }

  private split(sealed: string): { readonly master: MasterKey; readonly wrapped: Buffer; readonly body: Buffer } {
    const [version, keyId, wrapped, body, ...rest] = sealed.split('.');
    if (version !== VERSION || keyId === undefined || wrapped === undefined || body === undefined || rest.length > 0) {
      throw new SealError('unknown form');
    }
    const master = this.keys.find(keyId);
    if (master === undefined) {
      throw new SealError(
        `master key ${keyId} is not configured (TOLLGATE_ENCRYPTION_KEY or TOLLGATE_ENCRYPTION_KEYS_PREVIOUS)`,
      );
    }
    return { master, wrapped: Buffer.from(wrapped, 'base64url'), body: Buffer.from(body, 'base64url') };
  }
}

function join(master: MasterKey, wrapped: Buffer, body: Buffer): string {
  return [VERSION, master.id, wrapped.toString('base64url'), body.toString('base64url')].join('.');
}

/** A JSON array keeps the parts apart: `["a","bc"]` and `["ab","c"]` differ. */
function toAad(place: SealedPlace): Buffer {
  return Buffer.from(JSON.stringify([VERSION, place.organisationId, place.table, place.rowId, place.field]));
}

function encrypt(key: Buffer, plaintext: Buffer, aad: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(aad);
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

function decrypt(key: Buffer, sealed: Buffer, aad: Buffer): Buffer {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(aad);
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new SealError('it is damaged or belongs elsewhere', { cause });
  }
}
