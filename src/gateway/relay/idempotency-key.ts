import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { invalidField } from '../../common/errors/gateway.error.js';
import type { Ownership } from './isolation.js';

const KEY = /^[\x21-\x7e]{1,255}$/;

/** Fits into the names that AWS takes. */
const OWN_KEY_DIGITS = 40;

/**
 * The caller's `Idempotency-Key` as the provider gets it. Workspaces that are isolated share the provider's account, so the same
 * key of two of them must not be the same there: the second would get what the first has made.
 * @throws GatewayError `validation_failed`
 */
export function idempotencyKey(headers: IncomingHttpHeaders, ownership: Ownership): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined || key === '') return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) {
    throw invalidField('Idempotency-Key', 'must be 1 to 255 printable ASCII characters without spaces');
  }
  return ownership.strict ? ownKey(ownership, key) : key;
}

/** A key that no other workspace has: 40 hexadecimal digits. */
export function ownKey({ organisationId, workspaceId }: Ownership, key: string): string {
  return createHash('sha256')
    .update(JSON.stringify([organisationId, workspaceId, key]))
    .digest('hex')
    .slice(0, OWN_KEY_DIGITS);
}
