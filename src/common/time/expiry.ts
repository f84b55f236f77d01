import { invalidField } from '../errors/gateway.error.js';
import { fromUnixSeconds } from './unix-time.js';

/** @throws GatewayError `validation_failed` for an `expires_at` that has come already: what is made with it never works */
export function assertInFuture({ expires_at }: { readonly expires_at?: number | null }, now: Date): void {
  const expiresAt = fromUnixSeconds(expires_at);
  if (expiresAt instanceof Date && expiresAt <= now) throw invalidField('expires_at', 'must be in the future');
}

/** Of credentials that others give: a call that begins with them ends before they do, also where clocks differ a little. */
const RENEW_BEFORE_EXPIRY_MS = 5 * 60_000;

/** Whether a credential can still be used; if not, it is time for the next one. Both in Unix milliseconds. */
export function outlastsCalls(expiresAt: number, now: number): boolean {
  return expiresAt - now > RENEW_BEFORE_EXPIRY_MS;
}
