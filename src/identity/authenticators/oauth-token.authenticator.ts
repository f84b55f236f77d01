import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { claimIds, claimWords, type JsonObject } from '../../common/json/read.js';
import { AppConfig } from '../../config/environment.js';
import { SIGNATURE_ALGORITHMS } from '../../common/crypto/signature-algorithms.js';
import type { JwtValidation, McpServerIdentity } from '../config/identity-config.js';
import type { McpAuthenticator, McpEvidence, McpRequest } from './mcp-authenticator.js';
import { tokenIn } from './mcp-credentials.js';
import { subjectOf } from './token-subject.js';
import { InsufficientScopeError } from './token-errors.js';
import { TokenValidator, type ValidToken } from './token-validator.js';

const CLOCK_TOLERANCE_SECONDS = 5;
const INTROSPECTION_CACHE_SECONDS = 30;
const MAX_RESOURCES = 1_000;

/** Authenticates a token that the configured authorization server issued for this very MCP server (a protected resource). */
@Injectable()
export class OAuthTokenAuthenticator implements McpAuthenticator {
  /** By resource. TokenValidator caches by the object. */
  private readonly rules = new LRUCache<string, JwtValidation>({
    max: MAX_RESOURCES,
    memoMethod: (resource) => this.rulesFor(resource),
  });

  constructor(
    private readonly config: AppConfig,
    @Inject(TokenValidator) private readonly tokens: Pick<TokenValidator, 'validate'>,
  ) {}

  authenticate(request: McpRequest, server: McpServerIdentity, now: Date): MaybePromise<McpEvidence | undefined> {
    const issuer = this.config.MCP_OAUTH_ISSUER;
    if (issuer === undefined) return undefined;
    const token = tokenIn(request.headers, 'authorization');
    if (token === undefined) return undefined;
    const valid = this.tokens.validate(token, this.rules.memo(server.resource), now);
    return chain(valid, (known) => this.evidenceOf(known, issuer, server));
  }

  private evidenceOf(token: ValidToken, issuer: string, server: McpServerIdentity): McpEvidence {
    const { claims } = token;
    const needed = this.config.MCP_OAUTH_SCOPES;
    const held = new Set(claimWords(claims['scope'] ?? claims['scp']));
    if (needed.some((scope) => !held.has(scope))) throw new InsufficientScopeError();
    return {
      kind: 'oauth',
      user: { claims, ...subjectOf(token, issuer), assertMayEnter: () => this.assertTenant(claims, server) },
    };
  }

  /** RFC 8707, section 2: a token for another server, or for the whole gateway, is not accepted. */
  private rulesFor(resource: string): JwtValidation {
    const {
      MCP_OAUTH_INTROSPECTION_ENDPOINT: endpoint,
      MCP_OAUTH_INTROSPECTION_CLIENT_ID: clientId,
      MCP_OAUTH_INTROSPECTION_CLIENT_SECRET: clientSecret,
    } = this.config;
    return {
      jwksUri: this.config.MCP_OAUTH_JWKS_URI,
      introspection:
        endpoint === undefined || clientId === undefined || clientSecret === undefined
          ? undefined
          : { endpoint, clientId, clientSecret, cacheSeconds: INTROSPECTION_CACHE_SECONDS },
      requiredClaims: [],
      claimValues: {},
      issuer: this.config.MCP_OAUTH_ISSUER,
      audience: [resource],
      algorithms: SIGNATURE_ALGORITHMS,
      clockToleranceSeconds: CLOCK_TOLERANCE_SECONDS,
      headerKey: 'authorization',
      isRequired: false,
      isAdvertised: false,
    };
  }

  /** Deny by default: a token without an organisation grants none. For the caller, a foreign server does not exist. */
  private assertTenant(claims: JsonObject, server: McpServerIdentity): void {
    const { MCP_OAUTH_ORGANISATION_CLAIM: organisationClaim, MCP_OAUTH_WORKSPACE_CLAIM: workspaceClaim } = this.config;
    if (!claimIds(claims[organisationClaim]).includes(server.organisationId)) throw new GatewayError('not_found');
    const workspaces = claims[workspaceClaim];
    if (workspaces === undefined || workspaces === null || server.workspaceId === null) return;
    if (!claimIds(workspaces).includes(server.workspaceId)) throw new GatewayError('not_found');
  }
}
