import { Injectable } from '@nestjs/common';
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { isScope, type Scope } from '../access/scopes.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { AppConfig } from '../config/environment.js';
import { guardedFetch } from '../upstream/egress/guarded-fetch.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';

/** Asymmetric algorithms only (RFC 8725, section 3.1): with a shared secret, a public key could be used to sign. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const CLOCK_TOLERANCE_SECONDS = 30;
const JWKS_TIMEOUT_MS = 5_000;
const JWKS_MAX_BYTES = 1024 * 1024;

/** What a verified administrator's token says. */
export interface AdminToken {
  readonly subject: string;
  /** Ids of the organisations that the administrator acts for. */
  readonly organisationIds: readonly string[];
  readonly scopes: ReadonlySet<Scope>;
}

interface Provider {
  readonly keys: JWTVerifyGetKey;
  readonly issuer: string;
  readonly audience: string;
}

/** Verifies administrators' tokens of the configured OpenID Connect provider. */
@Injectable()
export class AdminTokenVerifier {
  private readonly provider: Provider | undefined;

  constructor(
    private readonly config: AppConfig,
    egress: EgressPolicy,
  ) {
    this.provider = toProvider(config, egress);
  }

  /**
   * @throws GatewayError `token_invalid` for every fault of the token
   * @throws GatewayError `identity_provider_unavailable` when the provider's keys cannot be had
   */
  async verify(token: string): Promise<AdminToken> {
    if (this.provider === undefined) throw tokenInvalid('no identity provider is configured');
    const { keys, issuer, audience } = this.provider;
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['sub', 'exp'],
      });
      return this.toAdminToken(payload);
    } catch (cause) {
      throw isFaultOfToken(cause)
        ? tokenInvalid(cause.code, cause)
        : new GatewayError('identity_provider_unavailable', { cause });
    }
  }

  private toAdminToken(payload: JWTPayload): AdminToken {
    return {
      subject: payload.sub ?? '',
      organisationIds: words(payload[this.config.ADMIN_OIDC_ORGANISATION_CLAIM]),
      scopes: new Set(words(payload[this.config.ADMIN_OIDC_SCOPE_CLAIM]).filter(isScope)),
    };
  }
}

function toProvider(config: AppConfig, egress: EgressPolicy): Provider | undefined {
  const { ADMIN_OIDC_ISSUER: issuer, ADMIN_OIDC_AUDIENCE: audience, ADMIN_OIDC_JWKS_URI: jwksUri } = config;
  if (issuer === undefined || audience === undefined || jwksUri === undefined) return undefined;
  const keys = createRemoteJWKSet(new URL(jwksUri), {
    timeoutDuration: JWKS_TIMEOUT_MS,
    [customFetch]: guardedFetch(egress, { timeoutMs: JWKS_TIMEOUT_MS, maxResponseBytes: JWKS_MAX_BYTES }),
  });
  return { keys, issuer, audience };
}

/** jose's own errors speak of the token, except where they speak of the key set's address. */
function isFaultOfToken(cause: unknown): cause is errors.JOSEError {
  return (
    cause instanceof errors.JOSEError && !(cause instanceof errors.JWKSTimeout) && cause.code !== 'ERR_JOSE_GENERIC'
  );
}

/** A claim that lists words: an array of strings, or one string with spaces between them. */
function words(claim: unknown): readonly string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((word) => word !== '');
  return Array.isArray(claim) ? claim.filter((item) => typeof item === 'string') : [];
}

function tokenInvalid(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('token_invalid', {
    reason,
    cause,
    headers: { 'www-authenticate': 'Bearer realm="tollgate", error="invalid_token"' },
  });
}
