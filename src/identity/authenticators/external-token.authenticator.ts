import { Inject, Injectable } from '@nestjs/common';
import { type Awaitable, whenKnown } from '../../common/awaitable.js';
import { AppConfig } from '../../config/environment.js';
import type { JwtValidation, McpServerIdentity } from '../config/identity-config.js';
import type { McpAuthenticator, McpEvidence, McpRequest } from './mcp-authenticator.js';
import { tokenIn } from './mcp-credentials.js';
import { subjectOf } from './token-subject.js';
import { looksLikeJwt, unverifiedIssuer } from './token-form.js';
import { TokenValidator } from './token-validator.js';

/** A token of the company's own identity provider, judged by the server's `jwt_validation`. */
@Injectable()
export class ExternalTokenAuthenticator implements McpAuthenticator {
  constructor(
    private readonly config: AppConfig,
    @Inject(TokenValidator) private readonly tokens: Pick<TokenValidator, 'validate'>,
  ) {}

  authenticate(request: McpRequest, server: McpServerIdentity, now: Date): Awaitable<McpEvidence | undefined> {
    const rules = server.jwtValidation;
    if (rules === undefined) return undefined;
    const token = tokenIn(request.headers, rules.headerKey);
    if (token === undefined || this.isForAuthorizationServer(token, rules)) return undefined;
    return whenKnown(this.tokens.validate(token, rules, now), (claims) => ({
      kind: 'external',
      user: {
        claims,
        ...subjectOf(claims, rules.jwksUri ?? rules.introspection?.endpoint ?? ''),
        forwardableToken: token,
        // Who registers a server and trusts a provider for it lets that provider's users in.
        assertMayEnter: () => undefined,
      },
    }));
  }

  /** Whether the gateway's authorization server is to judge a token that comes in the same header. */
  private isForAuthorizationServer(token: string, rules: JwtValidation): boolean {
    const { MCP_OAUTH_ISSUER: issuer, MCP_OAUTH_INTROSPECTION_ENDPOINT: endpoint } = this.config;
    if (issuer === undefined || rules.headerKey !== 'authorization') return false;
    if (looksLikeJwt(token)) return unverifiedIssuer(token) === issuer && rules.issuer !== issuer;
    return rules.introspection === undefined && endpoint !== undefined;
  }
}
