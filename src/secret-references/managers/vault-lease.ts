import { numberOrUndefined, readNumber, readObject, type JsonObject } from '../../common/json/read.js';
import { SecretError } from './secret-manager.types.js';

/** Visible ASCII, and so fit for a header. */
const TOKEN = /^[\x21-\x7e]{1,8192}$/;
/** Renewal begins when this part of the lease is over. */
const RENEW_AFTER = 2 / 3;

/** A token of Vault, and how long it is good. Times in milliseconds since 1970. */
export interface VaultLease {
  readonly token: string;
  readonly durationMs: number;
  readonly renewAt: number;
  /** Infinity: it does not expire. */
  readonly expiresAt: number;
  readonly isRenewable: boolean;
  /** undefined: as many as one likes. */
  usesLeft: number | undefined;
}

/**
 * Reads the answer to a login or a renewal. `askedAt`: when it was asked for, since the lease may run from then.
 * @throws SecretError `invalid_response`
 */
export function readLease(body: JsonObject, askedAt: number): VaultLease {
  try {
    const auth = readObject(body['auth'], 'auth');
    const token = auth['client_token'];
    if (typeof token !== 'string' || !TOKEN.test(token)) throw new Error('expected a token at auth.client_token');
    const durationMs = readNumber(auth['lease_duration'], 'auth.lease_duration') * 1_000;
    const uses = numberOrUndefined(auth['num_uses']) ?? 0;
    return {
      token,
      durationMs,
      renewAt: durationMs > 0 ? askedAt + durationMs * RENEW_AFTER : Infinity,
      expiresAt: durationMs > 0 ? askedAt + durationMs : Infinity,
      // A batch token has no lease to renew, and each renewal would cost one of a limited number of uses.
      isRenewable: auth['renewable'] === true && auth['token_type'] !== 'batch' && uses === 0,
      usesLeft: uses > 0 ? uses : undefined,
    };
  } catch (cause) {
    throw new SecretError('invalid_response', cause instanceof Error ? cause.message : 'no lease', { cause });
  }
}
