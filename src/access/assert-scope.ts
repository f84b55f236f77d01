import { GatewayError } from '../common/errors/gateway.error.js';
import type { Scope } from './scopes.js';

/** @throws GatewayError `permission_denied` for a caller that lacks the scope */
export function assertScope({ scopes }: { readonly scopes: ReadonlySet<Scope> }, scope: Scope): void {
  if (!scopes.has(scope)) {
    throw new GatewayError('permission_denied', { message: `The caller lacks the scope ${scope}.` });
  }
}
