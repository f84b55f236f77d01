import type { TokenCredential, AccessToken, GetTokenOptions } from '@azure/identity';
import { outlastsCalls } from '../../common/time/expiry.js';
import type { UpstreamFailure } from '../../upstream/upstream.types.js';
import type { AzureHttpClient, AzureAnswer, AzureTraffic } from './azure-http-client.js';
import { type AuthConfig, SecretError } from './secret-manager.types.js';
import { toTokenError } from './azure-errors.js';

/** One more try, soon: the caller of the gateway waits. */
export const AZURE_RETRIES = { maxRetries: 1, retryDelayInMs: 200, maxRetryDelayInMs: 500 } as const;

export interface AzureAuthority {
  /** Setting AZURE_AUTHORITY_HOST. */
  readonly host: string;
  /** Requests to it. A managed identity is asked of the machine itself, by the SDK's own network. */
  readonly httpClient: AzureHttpClient;
}

/**
 * Who asks for tokens, by `cloudB_auth_mode`. The SDK is loaded here and not before: it is large.
 * @param ownClientId setting AZURE_CLIENT_ID: which of the machine's identities `default` uses
 */
export async function azureIdentity(
  config: AuthConfig,
  authority: AzureAuthority,
  ownClientId: string | undefined,
): Promise<TokenCredential> {
  const sdk = await import('@azure/identity');
  const options = {
    authorityHost: authority.host,
    httpClient: authority.httpClient,
    retryOptions: AZURE_RETRIES,
    // Instance discovery would ask a host of Microsoft's about the authority, which the operator has chosen.
    disableInstanceDiscovery: true,
  };
  // The constructor changes the object that it is given.
  const ofTheMachine = (clientId: string | undefined): TokenCredential =>
    clientId === undefined
      ? new sdk.ManagedIdentityCredential({ retryOptions: AZURE_RETRIES })
      : new sdk.ManagedIdentityCredential({ clientId, retryOptions: AZURE_RETRIES });

  switch (config['cloudB_auth_mode']) {
    case 'entra':
      return new sdk.ClientSecretCredential(
        config['cloudB_entra_tenant_id'] ?? '',
        config['cloudB_entra_client_id'] ?? '',
        config['cloudB_entra_client_secret'] ?? '',
        options,
      );
    case 'managed':
      return ofTheMachine(config['cloudB_managed_client_id']);
    case 'default':
      // A fixed chain, where the SDK's own one would also try the tools of developers, which run programs.
      return new sdk.ChainedTokenCredential(
        new sdk.EnvironmentCredential(options),
        onFirstUse(() => new sdk.WorkloadIdentityCredential(options)),
        ofTheMachine(ownClientId),
      );
    default:
      throw new SecretError('invalid_request', 'cloudB_auth_mode is unknown');
  }
}

/** For a credential whose constructor throws when the environment names none: a chain goes on then. */
function onFirstUse(make: () => TokenCredential): TokenCredential {
  let made: TokenCredential | undefined;
  return {
    async getToken(scopes, options) {
      made ??= make();
      return made.getToken(scopes, options);
    },
  };
}

// Hosts of Entra ID. Source: the cloud discovery metadata of @azure/msal-common 16.13 (src/authority/AuthorityMetadata.ts).

/** Names of the same authority, one list for each cloud that has more than one. */
const ALIASES: readonly (readonly string[])[] = [
  [
    'https://login.microsoftonline.com',
    'https://login.windows.net',
    'https://login.microsoft.com',
    'https://sts.windows.net',
  ],
  ['https://login.partner.microsoftonline.cn', 'https://login.chinacloudapi.cn'],
  ['https://login.microsoftonline.us', 'https://login.usgovcloudapi.net'],
];

/** Where credentials for an authority may go: itself, and its other names, which its discovery document may use. */
export function authorityOrigins(authorityHost: string): readonly string[] {
  const { origin } = new URL(authorityHost);
  return ALIASES.find((names) => names.includes(origin)) ?? [origin];
}

/** The last answer or failure of the token endpoint, which the SDK's errors do not contain. */
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
