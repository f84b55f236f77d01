import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { type MaybePromise, chain } from '../../common/maybe-promise.js';
import { WeakMemo } from '../../common/cache/weak-memo.js';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { AppConfig } from '../../config/environment.js';
import { claimsOfCaller } from '../claims/caller-claims.js';
import type { McpCaller } from '../claims/mcp-caller.js';
import type { McpServerIdentity } from '../config/identity-config.js';
import { assertSingleHeaders, type RawHeader } from '../headers/raw-headers.js';
import { ApiKeyAuthenticator } from './api-key.authenticator.js';
import { bearerChallenge, relayedChallenge } from './bearer-challenge.js';
import type { McpAuthenticator, McpEvidence, McpRequest, McpUser } from './mcp-authenticator.js';
import { KEY_HEADERS } from '../../common/http/gateway-headers.js';
import { tokenIn } from './mcp-credentials.js';
import { ResourceMetadata } from './resource-metadata.js';
import { InsufficientScopeError, TOKEN_REFUSED, TokenRefusedError } from './token-errors.js';

/** The list of strategies, in their order. */
export const MCP_AUTHENTICATORS = Symbol('MCP_AUTHENTICATORS');

/** The evidence of the authenticators that ran so far. */
interface Evidence {
  readonly keyOwner: Principal | undefined;
  /** The last evidence. */
  readonly found: McpEvidence | undefined;
}

/** First part of a session's user. The first name is historical: sessions survive an update of the gateway. */
const SESSION_KINDS = { subject: 'token', username: 'username', client: 'client' } as const;

const NO_EVIDENCE: Evidence = { keyOwner: undefined, found: undefined };

/**
 * Authenticates the caller of an MCP server. With a key and a token, the key decides the tenant and the token decides the user.
 * Every credential has to be valid: a good key does not excuse a bad token.
 */
@Injectable()
export class McpAuthentication {
  /** By the owner of a key or the claims of a token: these are the same objects while they are cached. */
  private readonly callers = new WeakMemo<object, string | null, McpCaller>();

  constructor(
    @Inject(MCP_AUTHENTICATORS) private readonly authenticators: readonly McpAuthenticator[],
    private readonly keys: ApiKeyAuthenticator,
    private readonly config: AppConfig,
    @Inject(ResourceMetadata) private readonly metadata: Pick<ResourceMetadata, 'addressFor'>,
  ) {}

  /**
   * The owner of the request's gateway key, before the server is known: an address without a workspace is looked up in the key's
   * tenant. Pass the result to `callerOf`, so that the call counts once. Undefined without a key.
   * @param wasCounted the request is authenticated a second time and must not count again
   * @throws GatewayError `validation_failed`, `api_key_invalid`, `permission_denied`, `rate_limited`
   */
  keyOwnerOf(headers: readonly RawHeader[], now: Date, wasCounted = false): MaybePromise<Principal | undefined> {
    assertSingleHeaders(headers, KEY_HEADERS);
    return this.keys.keyOwnerOf(headers, now, wasCounted);
  }

  /**
   * @throws GatewayError `api_key_invalid` and `token_invalid` with a challenge that names where to log in, `permission_denied`,
   * `not_found` for a server of another tenant, `identity_provider_unavailable`, `rate_limited`, `validation_failed`
   */
  callerOf(request: McpRequest, server: McpServerIdentity, now: Date): MaybePromise<McpCaller> {
    assertSingleHeaders(request.headers, singleHeaders(server));
    const refuse = (error: unknown): never => {
      throw this.withChallenge(error, server, request.keyOwner !== undefined);
    };
    try {
      const caller = chain(this.collect(request, server, now), (evidence) => this.judge(request, server, evidence));
      return caller instanceof Promise ? caller.catch(refuse) : caller;
    } catch (error) {
      return refuse(error);
    }
  }

  /** Value of `WWW-Authenticate` for a caller without valid credentials: the same for every name, unless a server advertises its issuer. */
  challengeForStranger(server: McpServerIdentity): string {
    return this.challengeFor(server, false);
  }

  /**
   * Value of `WWW-Authenticate` for a caller whose token the server itself refused.
   * @param said the server's own challenges
   */
  relayedChallenge(server: McpServerIdentity, said: readonly string[]): string {
    return relayedChallenge(said, this.metadata.addressFor(server, true)) ?? this.challengeFor(server, true);
  }

  private challengeFor(server: McpServerIdentity, isKnownCaller: boolean): string {
    const resourceMetadata = this.metadata.addressFor(server, isKnownCaller);
    return bearerChallenge({ resourceMetadata, scopes: this.config.MCP_OAUTH_SCOPES });
  }

  /** Runs the authenticators, beginning with number `next`. */
  private collect(
    request: McpRequest,
    server: McpServerIdentity,
    now: Date,
    known: Evidence = NO_EVIDENCE,
    next = 0,
  ): MaybePromise<Evidence> {
    const authenticator = this.authenticators[next];
    // One user is enough; a second token is neither validated nor forwarded.
    if (authenticator === undefined || known.found?.user !== undefined) return known;
    return chain(authenticator.authenticate(request, server, now), (found) =>
      this.collect(request, server, now, found === undefined ? known : withFound(known, found), next + 1),
    );
  }

  private judge(request: McpRequest, server: McpServerIdentity, { keyOwner, found }: Evidence): McpCaller {
    const user = found?.user;
    const isTokenMissing = server.jwtValidation?.isRequired === true && found?.kind !== 'external';
    if (keyOwner !== undefined) {
      assertSameTenant(keyOwner, server);
      if (isTokenMissing) throw this.tokenRequired(server);
      if (user !== undefined) return toCaller(keyOwner, found, server, keyOwner);
      const workspaceId = keyOwner.workspaceId ?? server.workspaceId;
      return this.callers.of(keyOwner, workspaceId, () => toCaller(keyOwner, undefined, server, keyOwner));
    }
    // The rules of the server come after these two: a caller who may not enter must not learn that they exist.
    if (found === undefined || user === undefined) throw this.missing(request, server);
    user.assertMayEnter();
    if (isTokenMissing) throw this.tokenRequired(server);
    return this.callers.of(user.claims, `${found.kind} ${server.id}`, () =>
      toCaller(userPrincipal(user, server), found, server, undefined),
    );
  }

  private missing(request: McpRequest, server: McpServerIdentity): unknown {
    if (tokenIn(request.headers, 'authorization') !== undefined) return new TokenRefusedError('malformed');
    return new GatewayError('api_key_invalid', {
      reason: 'missing',
      headers: { 'www-authenticate': this.challengeForStranger(server) },
    });
  }

  /** Without an error in the challenge: other credentials of the request may be fine (RFC 6750, section 3.1). */
  private tokenRequired(server: McpServerIdentity): GatewayError {
    return new GatewayError('token_invalid', {
      message: "The server needs a token of its users' identity provider; a gateway key alone is not enough.",
      reason: 'missing, and jwt_validation is required',
      hint: hintForToken(server),
      headers: { 'www-authenticate': this.challengeFor(server, true) },
    });
  }

  /** RFC 6750, section 3, and RFC 9728, section 5.1. */
  private withChallenge(error: unknown, server: McpServerIdentity, isKnownCaller: boolean): unknown {
    const resourceMetadata = this.metadata.addressFor(server, isKnownCaller);
    const scopes = this.config.MCP_OAUTH_SCOPES;
    if (error instanceof TokenRefusedError) {
      const refusal = { error: 'invalid_token', errorDescription: TOKEN_REFUSED } as const;
      const challenge = bearerChallenge({ resourceMetadata, ...refusal, scopes });
      return new GatewayError('token_invalid', {
        reason: error.details,
        hint: `The token of the user is refused: ${error.details}.`,
        cause: error,
        headers: { 'www-authenticate': challenge },
      });
    }
    if (error instanceof InsufficientScopeError) {
      const challenge = bearerChallenge({ resourceMetadata, error: 'insufficient_scope', scopes });
      return new GatewayError('permission_denied', { cause: error, headers: { 'www-authenticate': challenge } });
    }
    return error;
  }
}

/** What a caller must send to a server that requires tokens of its own identity provider. */
export function hintForToken({ jwtValidation }: Pick<McpServerIdentity, 'jwtValidation'>): string {
  const header = jwtValidation?.headerKey ?? 'authorization';
  const value = header === 'authorization' ? 'Authorization: Bearer <token>' : `${header}: <token>`;
  return `jwt_validation.required is true: send the gateway key in x-gateway-api-key, and a user's token of the identity provider as ${value}.`;
}

function withFound(known: Evidence, found: McpEvidence): Evidence {
  return { keyOwner: known.keyOwner ?? found.keyOwner, found };
}

/** Headers that may occur once, besides those of every request. */
function singleHeaders({ jwtValidation }: McpServerIdentity): readonly string[] {
  const tokenHeader = jwtValidation?.headerKey;
  return tokenHeader === undefined || tokenHeader === 'authorization' ? KEY_HEADERS : [...KEY_HEADERS, tokenHeader];
}

/** The directory checks this too. Checked again, so that a mistake there does not open another tenant. */
function assertSameTenant(keyOwner: Principal, server: McpServerIdentity): void {
  const isSameOrganisation = keyOwner.organisationId === server.organisationId;
  const isSameWorkspace =
    keyOwner.workspaceId === null || server.workspaceId === null || keyOwner.workspaceId === server.workspaceId;
  if (!isSameOrganisation || !isSameWorkspace) throw new GatewayError('not_found');
}

function userPrincipal(user: McpUser, server: McpServerIdentity): Principal {
  return {
    kind: 'mcp_user',
    id: user.subject,
    organisationId: server.organisationId,
    workspaceId: server.workspaceId,
    scopes: new Set(['mcp.invoke']),
    user: null,
    enforcedMetadata: {},
    defaultMetadata: {},
    rateLimits: [],
    expiresAt: null,
  };
}

function toCaller(
  principal: Principal,
  found: McpEvidence | undefined,
  server: McpServerIdentity,
  key: Principal | undefined,
): McpCaller {
  const user = found?.user;
  return {
    kind: user === undefined || found === undefined ? 'api_key' : found.kind,
    principal,
    claims: claimsOfCaller({
      organisationId: principal.organisationId,
      // A key of the whole organisation acts in the server's workspace.
      workspaceId: principal.workspaceId ?? server.workspaceId,
      key,
      token: user?.claims,
    }),
    sessionUser: sessionUser(principal, user),
    externalToken: found?.kind === 'external' ? user?.forwardableToken : undefined,
  };
}

/** As JSON, so that two different lists never give the same text. */
function sessionUser(principal: Principal, user: McpUser | undefined): string {
  const { organisationId } = principal;
  if (user !== undefined)
    return JSON.stringify([SESSION_KINDS[user.subjectKind], organisationId, user.issuer, user.subject]);
  if (principal.user !== null) return JSON.stringify(['user', organisationId, principal.user.user_id]);
  return JSON.stringify(['key', organisationId, principal.id]);
}
