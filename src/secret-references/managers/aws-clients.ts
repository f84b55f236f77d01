import { createHash } from 'node:crypto';
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { LRUCache } from 'lru-cache';
import { assertNever } from '../../common/assert-never.js';
import type { AppConfig } from '../../config/environment.js';
import type { AwsIdentity, AwsIdentityProvider, AwsOwnIdentity } from '../../upstream/aws/aws-own-identity.js';
import { sessionName } from '../../upstream/aws/assume-role.js';
import { awsRequestHandler } from '../../upstream/aws/aws-request-handler.js';
import type { AwsAuth } from './aws-auth.js';
import { toSecretError } from './aws-error.js';
import type { SecretTransport } from './secret-transport.js';

/** A client weighs some 20 KiB, and holds credentials. */
const MAX_CLIENTS = 1_000;
/** An hour without use: as long as a role session lasts. */
const MAX_IDLE_MS = 3_600_000;
const MAX_ATTEMPTS = 2;

export type AwsEndpointSettings = Pick<AppConfig, 'AWS_ENDPOINT_URL_SECRETS_MANAGER' | 'AWS_ENDPOINT_URL_STS'>;

/** As whom a client asks, and where. Organisations share nothing, even if they have the same credentials. */
export interface AwsCaller {
  readonly organisationId: string;
  readonly auth: AwsAuth;
  readonly region: string;
}

/**
 * One client of the SDK for each caller. A client keeps its role session until five minutes before it ends, and what it
 * has learnt about the difference between AWS's clock and ours.
 */
export class AwsClients {
  readonly #clients = new LRUCache<string, Promise<SecretsManagerClient>>({
    max: MAX_CLIENTS,
    ttl: MAX_IDLE_MS,
    updateAgeOnGet: true,
    // Otherwise an old client would leave the memory only when a request asks for it, which may never come.
    ttlAutopurge: true,
  });

  constructor(
    private readonly transport: Pick<SecretTransport, 'sender'>,
    private readonly ownIdentity: Pick<AwsOwnIdentity, 'provide'>,
    private readonly config: AwsEndpointSettings,
  ) {}

  /** The client that has served the caller before. */
  kept(caller: AwsCaller): Promise<SecretsManagerClient> | undefined {
    return this.#clients.get(awsFingerprint(caller));
  }

  clientFor(caller: AwsCaller): Promise<SecretsManagerClient> {
    const kept = this.kept(caller);
    if (kept !== undefined) return kept;
    const client = this.#create(caller);
    this.#clients.set(awsFingerprint(caller), client);
    client.catch(() => this.forget(caller, client));
    return client;
  }

  /** The next client asks for a new role session. False when another has done so since. */
  forget(caller: AwsCaller, client: Promise<SecretsManagerClient>): boolean {
    const key = awsFingerprint(caller);
    return this.#clients.peek(key) === client && this.#clients.delete(key);
  }

  clear(): void {
    this.#clients.clear();
  }

  async #create(caller: AwsCaller): Promise<SecretsManagerClient> {
    // Loaded at the first use: most gateways never ask AWS, and it takes a while.
    const { SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
    return new SecretsManagerClient({
      ...this.#settings(caller.region, this.config.AWS_ENDPOINT_URL_SECRETS_MANAGER),
      credentials: await this.#credentialsOf(caller),
    });
  }

  async #credentialsOf({ organisationId, auth, region }: AwsCaller): Promise<AwsIdentity | AwsIdentityProvider> {
    switch (auth.type) {
      case 'accessKey': {
        // A copy: the SDK writes into what it gets.
        const { accessKeyId, secretAccessKey, sessionToken } = auth;
        return { accessKeyId, secretAccessKey, sessionToken };
      }
      case 'serviceRole':
        return () => this.#ownIdentity();
      case 'assumedRole': {
        const { fromTemporaryCredentials } = await import('@aws-sdk/credential-providers');
        return fromTemporaryCredentials({
          masterCredentials: () => this.#ownIdentity(),
          params: {
            RoleArn: auth.roleArn,
            ExternalId: auth.externalId,
            RoleSessionName: sessionName(organisationId),
          },
          clientConfig: this.#settings(region, this.config.AWS_ENDPOINT_URL_STS),
        });
      }
      default:
        return assertNever(auth);
    }
  }

  /** Without parameters: what the SDK passes has the tenant's region in it. A copy, since the SDK writes into what it gets. */
  async #ownIdentity(): Promise<AwsIdentity> {
    try {
      return { ...(await this.ownIdentity.provide()) };
    } catch (error) {
      throw toSecretError(error, []);
    }
  }

  #settings(region: string, endpoint: string | undefined) {
    return {
      region,
      endpoint,
      requestHandler: awsRequestHandler(this.transport.sender()),
      maxAttempts: MAX_ATTEMPTS,
      retryMode: 'standard',
    };
  }
}

/** Identifies a caller. Hashed, so that the keys of caches hold no secret. */
export function awsFingerprint(caller: AwsCaller): string {
  return createHash('sha256').update(JSON.stringify(caller)).digest('base64');
}
