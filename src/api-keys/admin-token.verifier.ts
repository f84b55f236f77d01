import { Injectable } from '@nestjs/common';
import { createRemoteJWKSet, customFetch, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { isScope, type Scope } from '../access/scopes.js';
import { SIGNATURE_ALGORITHMS } from '../common/crypto/signature-algorithms.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { AppConfig } from '../config/environment.js';
import { guardedFetch } from '../upstream/egress/guarded-fetch.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';

const CLOCK_TOLERANCE_SECONDS = 30;
const JWKS_TIMEOUT_MS = 5_000;
const JWKS_MAX_BYTES = 1024 * 1024;
/** OpenID Connect Core 1.0, section 2; longer ones would not fit into the audit log either. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
/** jose's codes for a key set that does not come, or that is none. The generic one is for answers other than 200. */
const FAULTS_OF_PROVIDER: ReadonlySet<string> = new Set([
  errors.JOSEError.code,
  errors.JWKSTimeout.code,
  errors.JWKSInvalid.code,
  errors.JWKInvalid.code,
]);

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
    return this.toAdminToken(await verified(token, this.provider));
  }

  private toAdminToken(payload: JWTPayload): AdminToken {
    const { sub } = payload;
    if (typeof sub !== 'string' || !SUBJECT.test(sub)) throw tokenInvalid('its sub is not 1 to 255 ASCII characters');
    return {
      subject: sub,
      organisationIds: words(payload[this.config.ADMIN_OIDC_ORGANISATION_CLAIM]).map((id) => id.toLowerCase()),
      scopes: new Set(words(payload[this.config.ADMIN_OIDC_SCOPE_CLAIM]).filter(isScope)),
    };
  }
}

async function verified(token: string, { keys, issuer, audience }: Provider): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: [...SIGNATURE_ALGORITHMS],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['sub', 'exp'],
    });
    return payload;
  } catch (cause) {
    throw isFaultOfToken(cause)
      ? tokenInvalid(cause.code, cause)
      : new GatewayError('identity_provider_unavailable', { cause });
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

/** jose's own errors speak of the token, except where they speak of the key set or of its address. */
function isFaultOfToken(cause: unknown): cause is errors.JOSEError {
  return cause instanceof errors.JOSEError && !FAULTS_OF_PROVIDER.has(cause.code);
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
