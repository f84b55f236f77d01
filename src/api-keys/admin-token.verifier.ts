import { Inject, Injectable } from '@nestjs/common';
import { errors, type JWTPayload } from 'jose';
import { isScope, type Scope } from '../access/scopes.js';
import { SIGNATURE_ALGORITHMS } from '../common/crypto/signature-algorithms.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { claimIds, claimWords } from '../common/json/read.js';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { guardedFetch } from '../upstream/egress/guarded-fetch.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { RemoteKeySet, type RemoteKeySetOptions } from '../upstream/identity-provider/remote-key-set.js';
import { verifyWithKeySet } from '../upstream/identity-provider/verify-with-key-set.js';

const CLOCK_TOLERANCE_SECONDS = 30;
const MS_PER_SECOND = 1_000;
const JWKS_TIMEOUT_MS = 5_000;
const JWKS_MAX_BYTES = 1024 * 1024;
/** OpenID Connect Core 1.0, section 2; longer ones would not fit into the audit log either. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
/** What a verified administrator's token says, or the session of a person. */
export interface AdminToken {
  readonly subject: string;
  /** How a person is called who logged in. */
  readonly name?: string;
  /** Ids of the organisations that the administrator acts for. */
  readonly organisationIds: readonly string[];
  /** Of a session, which is for one organisation: its workspace, or null for all of them. Absent: a token. */
  readonly workspaceId?: string | null;
  readonly scopes: ReadonlySet<Scope>;
  readonly expiresAt: Date;
}

interface Provider {
  readonly keySet: RemoteKeySet;
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
    clock: Clock,
    @Inject(LOGGER) logger: Pick<Logger, 'warn'>,
  ) {
    const fetchGuarded = guardedFetch(egress, { timeoutMs: JWKS_TIMEOUT_MS, maxResponseBytes: JWKS_MAX_BYTES });
    this.provider = toProvider(config, { fetchGuarded, clock, logger });
  }

  /**
   * @throws GatewayError `token_invalid` for every fault of the token
   * @throws GatewayError `identity_provider_unavailable` when the provider's keys cannot be fetched
   */
  async verify(token: string): Promise<AdminToken> {
    if (this.provider === undefined) throw tokenInvalid('no identity provider is configured');
    return this.toAdminToken(await verified(token, this.provider));
  }

  private toAdminToken(payload: JWTPayload): AdminToken {
    const { sub, exp = 0 } = payload;
    if (typeof sub !== 'string' || !SUBJECT.test(sub)) throw tokenInvalid('its sub is not 1 to 255 ASCII characters');
    const claim = this.config.ADMIN_OIDC_ORGANISATION_CLAIM;
    const organisationIds = claimIds(payload[claim]);
    if (organisationIds.length === 0) {
      const lack = `its claim ${claim} (ADMIN_OIDC_ORGANISATION_CLAIM) names no organisation`;
      throw tokenInvalid(lack, undefined, `The bearer token is not valid: ${lack}.`);
    }
    return {
      subject: sub,
      organisationIds,
      scopes: new Set(claimWords(payload[this.config.ADMIN_OIDC_SCOPE_CLAIM]).filter(isScope)),
      expiresAt: new Date(exp * MS_PER_SECOND),
    };
  }
}

async function verified(token: string, { keySet, issuer, audience }: Provider): Promise<JWTPayload> {
  try {
    return await verifyWithKeySet(token, keySet, {
      issuer,
      audience,
      algorithms: [...SIGNATURE_ALGORITHMS],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['sub', 'exp'],
    });
  } catch (error) {
    throw error instanceof errors.JOSEError ? tokenInvalid(error.code, error) : error;
  }
}

function toProvider(config: AppConfig, options: RemoteKeySetOptions): Provider | undefined {
  const { ADMIN_OIDC_ISSUER: issuer, ADMIN_OIDC_AUDIENCE: audience, ADMIN_OIDC_JWKS_URI: jwksUri } = config;
  if (issuer === undefined || audience === undefined || jwksUri === undefined) return undefined;
  return { keySet: new RemoteKeySet(jwksUri, options), issuer, audience };
}

/** `message` names what is missing, and is only for callers whose token is verified. */
function tokenInvalid(reason: string, cause?: unknown, message?: string): GatewayError {
  return new GatewayError('token_invalid', {
    reason,
    cause,
    message,
    headers: { 'www-authenticate': 'Bearer realm="tollgate", error="invalid_token"' },
  });
}
