import { Inject, Injectable } from '@nestjs/common';
import { LOCAL_HOSTS } from '../../common/constants.js';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import { AppConfig } from '../../config/environment.js';
import type { JwtValidation, McpServerIdentity } from '../config/identity-config.js';
import type { McpAuthenticator, McpEvidence, McpRequest } from './mcp-authenticator.js';
import { tokenIn } from './mcp-credentials.js';
import { subjectOf } from './token-subject.js';
import { looksLikeJwt, unverifiedIssuer } from './token-form.js';
import { type TokenRefusal, TokenRefusedError } from './token-errors.js';
import { TokenValidator, type ValidToken } from './token-validator.js';

const NOT_SIGNED: ReadonlySet<TokenRefusal> = new Set(['unknown_key', 'signature']);

/** Authenticates a token of the company's own identity provider, by the server's `jwt_validation`. */
@Injectable()
export class ExternalTokenAuthenticator implements McpAuthenticator {
  constructor(
    private readonly config: AppConfig,
    @Inject(TokenValidator) private readonly tokens: Pick<TokenValidator, 'validate'>,
  ) {}

  authenticate(request: McpRequest, server: McpServerIdentity, now: Date): MaybePromise<McpEvidence | undefined> {
    const rules = server.jwtValidation;
    if (rules === undefined) return undefined;
    const token = tokenIn(request.headers, rules.headerKey);
    if (token === undefined) return undefined;
    switch (this.judgeOf(token, rules)) {
      case 'server':
        return this.judge(token, rules, server, now);
      case 'authorization_server':
        return undefined;
      case 'whoever_signed':
        return this.judgeIfSigned(token, rules, server, now);
    }
  }

  /** Whose rules apply to a token, when the gateway's authorization server uses the same header. */
  private judgeOf(token: string, rules: JwtValidation): 'server' | 'authorization_server' | 'whoever_signed' {
    const { MCP_OAUTH_ISSUER: issuer, MCP_OAUTH_INTROSPECTION_ENDPOINT: endpoint } = this.config;
    if (issuer === undefined || rules.headerKey !== 'authorization') return 'server';
    const isJwt = looksLikeJwt(token);
    // One provider for both: users must not evade the server's rules through the gateway's.
    if ((isJwt && unverifiedIssuer(token) !== issuer) || this.isOfAuthorizationServer(rules)) return 'server';
    if (!isJwt) return rules.introspection === undefined && endpoint !== undefined ? 'authorization_server' : 'server';
    // A provider may publish the same keys at several addresses.
    return rules.issuer === undefined && rules.jwksUri !== undefined ? 'whoever_signed' : 'authorization_server';
  }

  private isOfAuthorizationServer({ issuer, jwksUri, introspection }: JwtValidation): boolean {
    const { MCP_OAUTH_ISSUER, MCP_OAUTH_JWKS_URI, MCP_OAUTH_INTROSPECTION_ENDPOINT } = this.config;
    if (issuer !== undefined) return issuer === MCP_OAUTH_ISSUER;
    if (jwksUri !== undefined) return jwksUri === MCP_OAUTH_JWKS_URI;
    return introspection?.endpoint === MCP_OAUTH_INTROSPECTION_ENDPOINT;
  }

  /** Undefined for a token with a foreign signature; any other refusal stands. */
  private async judgeIfSigned(
    token: string,
    rules: JwtValidation,
    server: McpServerIdentity,
    now: Date,
  ): Promise<McpEvidence | undefined> {
    try {
      return await this.judge(token, rules, server, now);
    } catch (error) {
      if (error instanceof TokenRefusedError && NOT_SIGNED.has(error.reason)) return undefined;
      throw error;
    }
  }

  private judge(token: string, rules: JwtValidation, server: McpServerIdentity, now: Date): MaybePromise<McpEvidence> {
    return chain(this.tokens.validate(token, rules, now), (valid) => ({
      kind: 'external',
      user: {
        claims: valid.claims,
        ...subjectOf(valid, rules.jwksUri ?? rules.introspection?.endpoint ?? ''),
        forwardableToken: isForGateway(valid, rules, server, this.config) ? undefined : token,
        // A server that trusts a provider lets all users of that provider in.
        assertMayEnter: () => undefined,
      },
    }));
  }
}

/**
 * Whether a token was issued for the gateway: then the server must not get it (MCP authorization, "Access Token Privilege
 * Restriction"). An audience that the server's rules name is one that the server takes, whatever its address.
 */
function isForGateway(
  { claims }: ValidToken,
  { audience }: JwtValidation,
  { resource }: McpServerIdentity,
  config: AppConfig,
): boolean {
  if (audience !== undefined) return false;
  const origins = originsOfGateway(resource, config);
  return [claims['aud']].flat().some((aud) => {
    if (typeof aud !== 'string') return false;
    return aud === config.ADMIN_OIDC_AUDIENCE || (URL.canParse(aud) && origins.has(new URL(aud).origin));
  });
}

function originsOfGateway(resource: string, { PUBLIC_URL, MCP_PUBLIC_URL }: AppConfig): ReadonlySet<string> {
  const { origin, port } = new URL(resource);
  const local = MCP_PUBLIC_URL === undefined ? LOCAL_HOSTS.map((host) => `http://${host}:${port}`) : [];
  const more = [...local, ...(PUBLIC_URL === undefined ? [] : [PUBLIC_URL])];
  return new Set([origin, ...more.map((url) => new URL(url).origin)]);
}
