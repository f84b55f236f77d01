import { Injectable } from '@nestjs/common';
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client';
import { GatewayError } from '../../common/errors/gateway.error.js';
import { isObject, type JsonObject } from '../../common/json/read.js';
import { AppConfig } from '../../config/environment.js';
import { EgressPolicy } from '../../upstream/egress/egress-policy.js';
import { guardedFetch } from '../../upstream/egress/guarded-fetch.js';
import { unavailableBecause } from '../../upstream/identity-provider/unavailable-because.js';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const CALLBACK = '/v1/login/oidc/callback';

/** What only the gateway and the provider know of one log-in. */
export interface LoginSecrets {
  readonly state: string;
  readonly nonce: string;
  /** PKCE, RFC 7636. */
  readonly verifier: string;
}

/** The administrators' OpenID Connect provider, as browsers log in there: authorization code with PKCE. */
@Injectable()
export class LoginProvider {
  private readonly fetchGuarded: typeof fetch;
  /** Of the provider's metadata, which are read at the first log-in. */
  private configuration: Promise<Configuration> | undefined;

  constructor(
    private readonly config: AppConfig,
    egress: EgressPolicy,
  ) {
    this.fetchGuarded = guardedFetch(egress, { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_BYTES });
  }

  get isConfigured(): boolean {
    return this.config.ADMIN_OIDC_CLIENT_ID !== undefined && this.config.ADMIN_OIDC_ISSUER !== undefined;
  }

  /** Where the browser goes. @throws GatewayError `identity_provider_unavailable` */
  async addressFor({ state, nonce, verifier }: LoginSecrets): Promise<string> {
    const url = buildAuthorizationUrl(await this.discovered(), {
      redirect_uri: this.callbackUrl().href,
      scope: this.config.ADMIN_OIDC_LOGIN_SCOPE,
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return url.href;
  }

  /**
   * The claims of who logged in, verified: of the ID token, and of the userinfo endpoint where the ID token has no groups.
   * @param search of the address at which the browser came back
   * @throws what openid-client throws, and what the egress guard throws
   */
  async claimsOf(search: string, { state, nonce, verifier }: LoginSecrets): Promise<JsonObject> {
    const configuration = await this.discovered();
    const url = this.callbackUrl();
    url.search = search;
    const tokens = await authorizationCodeGrant(configuration, url, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    });
    const claims: unknown = tokens.claims();
    if (!isObject(claims) || typeof claims['sub'] !== 'string') throw new Error('the ID token has no claims');
    const hasGroups = claims[this.config.ADMIN_OIDC_GROUPS_CLAIM] !== undefined;
    if (hasGroups || configuration.serverMetadata().userinfo_endpoint === undefined) return claims;
    const more: unknown = await fetchUserInfo(configuration, tokens.access_token, claims['sub']);
    return isObject(more) ? { ...more, ...claims } : claims;
  }

  private callbackUrl(): URL {
    return new URL(`${(this.config.PUBLIC_URL ?? '').replace(/\/+$/, '')}${CALLBACK}`);
  }

  private discovered(): Promise<Configuration> {
    const running = this.configuration ?? this.discover();
    this.configuration = running;
    // A failure is not remembered.
    running.catch(() => {
      if (this.configuration === running) this.configuration = undefined;
    });
    return running;
  }

  private async discover(): Promise<Configuration> {
    const { ADMIN_OIDC_ISSUER: issuer, ADMIN_OIDC_CLIENT_ID: clientId } = this.config;
    if (issuer === undefined || clientId === undefined) throw new GatewayError('not_found');
    const isPlain = new URL(issuer).protocol === 'http:';
    const found = await discovery(new URL(issuer), clientId, undefined, None(), {
      [customFetch]: this.fetchGuarded,
      timeout: TIMEOUT_MS / 1_000,
      execute: isPlain ? [allowInsecureRequests] : [],
    }).catch((error: unknown) => {
      throw unavailableBecause('the metadata of the identity provider cannot be read', error);
    });
    const server = found.serverMetadata();
    const configuration = new Configuration(
      server,
      clientId,
      undefined,
      this.authentication(server.token_endpoint_auth_methods_supported),
    );
    configuration[customFetch] = this.fetchGuarded;
    configuration.timeout = TIMEOUT_MS / 1_000;
    if (isPlain) allowInsecureRequests(configuration);
    enableNonRepudiationChecks(configuration);
    return configuration;
  }

  /** @param methods that the provider supports; absent: HTTP Basic (OpenID Connect Discovery 1.0, section 3) */
  private authentication(methods: readonly string[] = ['client_secret_basic']) {
    const { ADMIN_OIDC_CLIENT_SECRET: secret } = this.config;
    if (secret === undefined) return None();
    return methods.includes('client_secret_basic') ? ClientSecretBasic(secret) : ClientSecretPost(secret);
  }
}
