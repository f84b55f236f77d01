import { invalidField } from '../errors/gateway.error.js';
import { fromUnixSeconds } from './unix-time.js';

/** @throws GatewayError `validation_failed` for an `expires_at` that has come already: what is made with it never works */
export function assertInFuture({ expires_at }: { readonly expires_at?: number | null }, now: Date): void {
  const expiresAt = fromUnixSeconds(expires_at);
  if (expiresAt instanceof Date && expiresAt <= now) throw invalidField('expires_at', 'must be in the future');
}
