import type { JsonObject } from '../../common/json/read.js';
import type { JwtValidation } from '../config/identity-config.js';
import { TokenRefusedError } from './token-errors.js';

/**
 * Checks the claims of a verified token by the rules of a server.
 * @throws TokenRefusedError
 */
export function assertClaims(claims: JsonObject, rules: Pick<JwtValidation, 'requiredClaims' | 'claimValues'>): void {
  for (const name of rules.requiredClaims) {
    if (!isPresent(claims, name)) throw new TokenRefusedError('missing_claim', { claim: name });
  }
  for (const [name, wanted] of Object.entries(rules.claimValues)) {
    const held = isPresent(claims, name) ? valuesOf(name, claims[name]) : [];
    if (!wanted.some((value) => held.includes(value))) {
      throw new TokenRefusedError('claim_value', { claim: name });
    }
  }
}

/** Neither missing nor null nor empty: some providers send a claim without a value. */
function isPresent(claims: JsonObject, name: string): boolean {
  if (!Object.hasOwn(claims, name)) return false;
  const value = claims[name];
  return value !== undefined && value !== null && value !== '';
}

function valuesOf(name: string, value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string');
  if (typeof value === 'string') return name === 'scope' || name === 'scp' ? value.split(' ') : [value];
  return typeof value === 'boolean' || typeof value === 'number' ? [String(value)] : [];
}
