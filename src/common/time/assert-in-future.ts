import { invalidField } from '../errors/gateway.error.js';

/** @throws GatewayError `validation_failed` for an `expires_at` that has come already: what is made with it never works */
export function assertInFuture(expiresAt: Date, now: Date): void {
  if (expiresAt <= now) throw invalidField('expires_at', 'must be in the future');
}
