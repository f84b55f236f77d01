import type { MaybePromise } from '../../common/maybe-promise.js';
import { outlastsCalls } from '../../common/time/expiry.js';
import { withTimeout } from '../../common/time/timeout.js';
import type { AppConfig } from '../../config/environment.js';
import type { AwsCredentials } from './aws-signature.js';

export interface AwsIdentity extends AwsCredentials {
  /** Absent for credentials that do not expire. */
  readonly expiration?: Date;
}

export type AwsIdentityProvider = () => Promise<AwsIdentity>;
export type AwsIdentitySettings = Pick<
  AppConfig,
  'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_SESSION_TOKEN' | 'SECRET_MANAGER_TIMEOUT_MS'
>;

/** Thrown when there is no identity, or none was found in time. */
export class AwsIdentityError extends Error {
  constructor(
    readonly problem: 'missing' | 'timeout',
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'AwsIdentityError';
  }
}

/**
 * The gateway's own AWS identity: the key in its settings, or else the one that the SDK's default chain finds (a role
 * of a service account, a container or a machine). The chain's requests bypass the egress rules, since no tenant
 * controls them.
 */
export class AwsOwnIdentity {
  readonly #inSettings: AwsIdentity | undefined;
  #chain: Promise<AwsIdentityProvider> | undefined;
  /** The last identity that the chain found. */
  #found: AwsIdentity | undefined;

  constructor(
    private readonly config: AwsIdentitySettings,
    private readonly loadChain: () => Promise<AwsIdentityProvider> = defaultChain,
    private readonly now: () => number = Date.now,
  ) {
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = config;
    if (accessKeyId === undefined || secretAccessKey === undefined) return;
    this.#inSettings = { accessKeyId, secretAccessKey, sessionToken: config.AWS_SESSION_TOKEN };
  }

  /**
   * Rejects with AwsIdentityError, or with the chain's error. The chain renews the identity shortly before it expires.
   */
  provide(): MaybePromise<AwsIdentity> {
    const known = this.#inSettings ?? this.#found;
    return known !== undefined && this.#lasts(known) ? known : this.#find();
  }

  /**
   * Discards the chain after AWS refused its identity, unless another identity was found meanwhile. Returns false when
   * there is nothing else to find, since settings do not change.
   */
  forget(refused: AwsCredentials | undefined = this.#found): boolean {
    if (this.#inSettings !== undefined) return false;
    if (refused?.secretAccessKey === this.#found?.secretAccessKey) {
      this.#chain = undefined;
      this.#found = undefined;
    }
    return true;
  }

  #lasts({ expiration }: AwsIdentity): boolean {
    return expiration === undefined || outlastsCalls(expiration.getTime(), this.now());
  }

  async #find(): Promise<AwsIdentity> {
    const chain = this.#chain ?? this.#load();
    const timeoutMs = this.config.SECRET_MANAGER_TIMEOUT_MS;
    const found = chain.then((find) => find());
    const late = (): Error =>
      new AwsIdentityError('timeout', `the gateway's own AWS identity was not found within ${timeoutMs} ms`);
    const identity = await withTimeout(timeoutMs, found, late).catch(explain);
    // A chain that was discarded meanwhile must not set the identity.
    if (this.#chain === chain) this.#found = identity;
    return identity;
  }

  #load(): Promise<AwsIdentityProvider> {
    const chain = this.loadChain();
    this.#chain = chain;
    chain.catch(() => {
      if (this.#chain === chain) this.#chain = undefined;
    });
    return chain;
  }
}

async function defaultChain(): Promise<AwsIdentityProvider> {
  // Loaded lazily: most gateways never call AWS, and loading is slow.
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  return fromNodeProviderChain();
}

function explain(error: unknown): never {
  if (error instanceof Error && error.name === 'CredentialsProviderError') {
    throw new AwsIdentityError('missing', 'the gateway has no AWS identity of its own', { cause: error });
  }
  throw error;
}
