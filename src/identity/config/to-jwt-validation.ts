import type { SignatureAlgorithm } from '../../common/crypto/signature-algorithms.js';
import type { JwtValidation, JwtValidationFields, ReadSecret } from './identity-config.js';

const DEFAULT_ALGORITHMS: readonly SignatureAlgorithm[] = ['RS256'];
const DEFAULT_CLOCK_TOLERANCE_SECONDS = 5;
const DEFAULT_INTROSPECTION_CACHE_SECONDS = 30;

/**
 * Converts the spelling of the API into the one of the code, with defaults.
 * @param readClientSecret reads the introspection's client secret when it is not among the fields
 */
export function toJwtValidation(fields: JwtValidationFields, readClientSecret?: ReadSecret): JwtValidation {
  const { introspection } = fields;
  return {
    jwksUri: fields.jwks_uri ?? fields.jwksUri,
    introspection: introspection && {
      endpoint: introspection.endpoint,
      clientId: introspection.client_id,
      clientSecret: introspection.client_secret ?? readClientSecret ?? '',
      cacheSeconds: introspection.cache_seconds ?? DEFAULT_INTROSPECTION_CACHE_SECONDS,
    },
    requiredClaims: fields.required_claims ?? fields.requiredClaims ?? [],
    claimValues: Object.fromEntries(
      Object.entries(fields.claim_values ?? {}).map(([claim, values]) => [claim, listOf(values)]),
    ),
    issuer: fields.issuer,
    audience: fields.audience === undefined ? undefined : listOf(fields.audience),
    algorithms: fields.algorithms ?? DEFAULT_ALGORITHMS,
    clockToleranceSeconds: fields.clock_tolerance_seconds ?? DEFAULT_CLOCK_TOLERANCE_SECONDS,
    headerKey: (fields.header_key ?? 'authorization').toLowerCase(),
    isRequired: fields.required ?? false,
    isAdvertised: fields.advertise_issuer ?? false,
  };
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value;
}
