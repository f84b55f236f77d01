// Azure Key Vault: GET {vault}/secrets/{name}/{version}, api-version 2025-07-01. Source:
// https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret/get-secret, read 2026-11-21.
import { createHmac, randomBytes } from 'node:crypto';
import type { SecretClient } from '@azure/keyvault-secrets';
import { LRUCache } from 'lru-cache';
import { withTimeout } from '../../common/time/timeout.js';
import type { AppConfig } from '../../config/environment.js';
import { toVaultError } from './azure-errors.js';
import { type AzureAnswer, azureHttpClient } from './azure-http-client.js';
import {
  AZURE_RETRIES,
  azureIdentity,
  authorityOrigins,
  AzureVaultCredential,
  TokenTraffic,
} from './azure-identity.js';
import {
  type AzureSecretName,
  azureVaultProblem,
  isAzureSecretVersion,
  readAzureSecretPath,
} from './azure-secret-name.js';
import {
  type AuthConfig,
  type SecretDocument,
  SecretError,
  type SecretManager,
  type SecretRequest,
} from './secret-manager.types.js';
import type { SecretTransport } from './secret-transport.js';

const MAX_SESSIONS = 500;
/** Unused credentials leave the memory after this time. */
const SESSION_MS = 3_600_000;
/** A first fetch takes four requests: challenge, discovery, token, secret. All but one are quick, or all is late. */
const REQUESTS_A_FETCH = 3;

type AzureSettings = Pick<
  AppConfig,
  'AZURE_AUTHORITY_HOST' | 'AZURE_CLIENT_ID' | 'AZURE_VAULT_HOSTS' | 'SECRET_MANAGER_TIMEOUT_MS'
>;

/** One organisation, one vault and one identity. Keeps the challenge and the token. */
interface Session {
  readonly client: SecretClient;
  readonly credential: AzureVaultCredential;
}

interface Target extends AzureSecretName {
  readonly vaultOrigin: string;
}

export class AzureKeyVault implements SecretManager {
  readonly type = 'cloudB_kv';
  readonly #sessions = new LRUCache<string, Promise<Session>>({
    max: MAX_SESSIONS,
    ttl: SESSION_MS,
    ttlAutopurge: true,
  });
  readonly #fingerprintKey = randomBytes(32);

  constructor(
    private readonly transport: SecretTransport,
    private readonly settings: AzureSettings,
  ) {}

  async fetch(request: SecretRequest): Promise<SecretDocument> {
    const target = this.#targetOf(request);
    const limitMs = this.settings.SECRET_MANAGER_TIMEOUT_MS * REQUESTS_A_FETCH;
    const controller = new AbortController();
    // In time whatever the SDK does: a managed identity is asked without our bounds.
    return withTimeout(limitMs, this.#read(request, target, controller.signal), () => {
      const error = new SecretError('timeout', `no secret within ${limitMs} ms`);
      controller.abort(error);
      return error;
    });
  }

  close(): Promise<void> {
    this.#sessions.clear();
    return Promise.resolve();
  }

  /** Checked again although the reference was: the setting may have changed since. */
  #targetOf({ authConfig, path, version }: SecretRequest): Target {
    const vaultUrl = authConfig['cloudB_vault_url'] ?? '';
    const problem = azureVaultProblem(vaultUrl, this.settings.AZURE_VAULT_HOSTS);
    if (problem !== undefined) throw new SecretError('refused_by_egress', `cloudB_vault_url ${problem}`);
    const vaultOrigin = new URL(vaultUrl).origin;
    const secret = readAzureSecretPath(path, vaultOrigin);
    if (secret === undefined) throw new SecretError('invalid_request', 'secret_path is not the name of a secret');
    if (version === undefined) return { vaultOrigin, ...secret };
    if (secret.version !== undefined || !isAzureSecretVersion(version)) {
      throw new SecretError('invalid_request', 'secret_version is not a version, or secret_path has one as well');
    }
    return { vaultOrigin, name: secret.name, version };
  }

  /** A session that has served before may hold a token that was revoked since: then once more, with a new login. */
  async #read(request: SecretRequest, target: Target, signal: AbortSignal): Promise<SecretDocument> {
    const config = request.authConfig;
    const key = this.#fingerprint(request, target.vaultOrigin);
    const kept = this.#sessions.get(key);
    const session = kept ?? this.#open(key, config, target.vaultOrigin);
    try {
      return await readSecret(await session, target, signal);
    } catch (error) {
      if (!(error instanceof SecretError) || error.code !== 'authentication_failed') throw error;
      this.#forget(key, session);
      if (kept === undefined) throw error;
    }
    const renewed = this.#sessions.get(key) ?? this.#open(key, config, target.vaultOrigin);
    return readSecret(await renewed, target, signal);
  }

  #open(key: string, config: AuthConfig, vaultOrigin: string): Promise<Session> {
    const session = this.#newSession(config, vaultOrigin);
    this.#sessions.set(key, session);
    session.catch(() => this.#forget(key, session));
    return session;
  }

  /** Not one that was opened since. */
  #forget(key: string, session: Promise<Session>): void {
    if (this.#sessions.peek(key) === session) this.#sessions.delete(key);
  }

  async #newSession(config: AuthConfig, vaultOrigin: string): Promise<Session> {
    const send = this.transport.fetchWith();
    const traffic = new TokenTraffic();
    const { AZURE_AUTHORITY_HOST: host, AZURE_CLIENT_ID: ownClientId } = this.settings;
    const httpClient = azureHttpClient(send, authorityOrigins(host), traffic);
    const identity = await azureIdentity(config, { host, httpClient }, ownClientId);
    const vaultHost = new URL(vaultOrigin).hostname;
    const credential = new AzureVaultCredential(vaultHost, identity, traffic, config['cloudB_entra_client_secret']);
    const sdk = await import('@azure/keyvault-secrets');
    const client = new sdk.SecretClient(vaultOrigin, credential, {
      httpClient: azureHttpClient(send, [vaultOrigin]),
      retryOptions: AZURE_RETRIES,
      disableChallengeResourceVerification: false,
    });
    return { client, credential };
  }

  /** Keyed, so that a reader of the keys cannot try secrets against them. */
  #fingerprint({ organisationId, authConfig }: SecretRequest, vaultOrigin: string): string {
    const fields = Object.entries(authConfig).sort(([a], [b]) => (a < b ? -1 : 1));
    return createHmac('sha256', this.#fingerprintKey)
      .update(JSON.stringify([organisationId, vaultOrigin, fields]))
      .digest('base64');
  }
}

async function readSecret({ client, credential }: Session, target: Target, signal: AbortSignal) {
  let answer: AzureAnswer | undefined;
  try {
    const secret = await client.getSecret(target.name, {
      version: target.version,
      abortSignal: signal,
      onResponse: ({ status, bodyAsText }) => (answer = { status, text: bodyAsText ?? '' }),
    });
    if (typeof secret.value !== 'string') throw new TypeError('the vault answered without a value');
    return { kind: 'text', text: secret.value } as const;
  } catch (error) {
    throw toVaultError(error, answer, credential.secrets);
  }
}
