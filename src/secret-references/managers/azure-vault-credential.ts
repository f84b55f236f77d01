import type { AccessToken, GetTokenOptions, TokenCredential } from '@azure/identity';
import { outlastsCalls } from '../../common/time/expiry.js';
import type { UpstreamFailure } from '../../upstream/upstream.types.js';
import { toTokenError } from './azure-errors.js';
import type { AzureAnswer, AzureTraffic } from './azure-http-client.js';
import { SecretError } from './secret-manager.types.js';

/** The last that was heard from the token endpoint: the SDK's errors do not tell. */
export class TokenTraffic implements AzureTraffic {
  answer: AzureAnswer | undefined;
  failure: UpstreamFailure | undefined;

  answered(answer: AzureAnswer): void {
    this.answer = answer;
    this.failure = undefined;
  }

  failed(failure: UpstreamFailure): void {
    this.failure = failure;
  }

  forget(): void {
    this.answer = undefined;
    this.failure = undefined;
  }
}

/**
 * The credential that a vault's client gets: it gives tokens for the vault's own service and nothing else, whatever the
 * vault's challenge asks for, and keeps its token until shortly before the end. Rejects with SecretError.
 */
export class AzureVaultCredential implements TokenCredential {
  readonly #scope: string;
  #held: AccessToken | undefined;

  constructor(
    vaultHost: string,
    private readonly identity: TokenCredential,
    private readonly traffic: TokenTraffic,
    private readonly clientSecret: string | undefined,
    private readonly now: () => number = Date.now,
  ) {
    // x.vault.azure.net belongs to the service https://vault.azure.net.
    this.#scope = `https://${vaultHost.slice(vaultHost.indexOf('.') + 1)}/.default`;
  }

  /** What no log may show. */
  get secrets(): readonly string[] {
    return [this.clientSecret, this.#held?.token].filter((text) => text !== undefined);
  }

  async getToken(scopes: string | readonly string[], options: GetTokenOptions = {}): Promise<AccessToken> {
    if (String(scopes) !== this.#scope) {
      throw new SecretError(
        'invalid_response',
        'the challenge of the vault names another service than the vault is of',
      );
    }
    // A vault that wants claims has refused the token that is held.
    const held = options.claims === undefined ? this.#held : undefined;
    const token = held !== undefined && this.#lasts(held) ? held : await this.#login(options);
    this.#held = token;
    // Expired for the SDK, which then asks each time. It would otherwise renew in the background, unheeded: a failure
    // there is an unhandled rejection, which ends the process.
    return { ...token, expiresOnTimestamp: 0, refreshAfterTimestamp: undefined };
  }

  #lasts(token: AccessToken): boolean {
    return outlastsCalls(token.expiresOnTimestamp, this.now());
  }

  async #login({ claims, enableCae }: GetTokenOptions): Promise<AccessToken> {
    this.traffic.forget();
    try {
      // No tenant is passed on: the challenge names one, and that is the vault's word only.
      const token = await this.identity.getToken(this.#scope, { claims, enableCae });
      if (token === null) throw new SecretError('authentication_failed', 'no token was given');
      return token;
    } catch (error) {
      throw toTokenError(error, this.traffic, this.secrets);
    }
  }
}
