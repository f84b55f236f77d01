import { invalidField } from '../errors/gateway.error.js';
import { fromUnixSeconds } from './unix-time.js';

/** @throws GatewayError `validation_failed` for an `expires_at` in the past: the resource would never work */
export function assertInFuture({ expires_at }: { readonly expires_at?: number | null }, now: Date): void {
  const expiresAt = fromUnixSeconds(expires_at);
  if (expiresAt instanceof Date && expiresAt <= now) throw invalidField('expires_at', 'must be in the future');
}

/** Margin before a credential expires: a call that starts with it ends in time, even if clocks differ a little. */
const RENEW_BEFORE_EXPIRY_MS = 5 * 60_000;

/** Whether a credential can be used for another call, or has to be renewed. Both times in Unix milliseconds. */
export function outlastsCalls(expiresAt: number, now: number): boolean {
  return expiresAt - now > RENEW_BEFORE_EXPIRY_MS;
}
