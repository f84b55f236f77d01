import type { AppConfig } from '../../config/environment.js';
import type { AwsCredentials } from '../../upstream/vendors/aws-signature.js';
import { toSecretError } from './aws-error.js';
import { SecretError } from './secret-manager.types.js';

export interface AwsIdentity extends AwsCredentials {
  /** Absent: they last. */
  readonly expiration?: Date;
}

export type AwsIdentityProvider = () => Promise<AwsIdentity>;
export type AwsIdentitySettings = Pick<
  AppConfig,
  'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY' | 'AWS_SESSION_TOKEN' | 'SECRET_MANAGER_TIMEOUT_MS'
>;

/**
 * Who the gateway is to AWS: the key in its settings, or else whatever the SDK's default chain finds (a service account's
 * role, a container's, a machine's). The chain has its own ways over the network, since no tenant has a say in them.
 */
export class AwsOwnIdentity {
  #chain: Promise<AwsIdentityProvider> | undefined;

  constructor(
    private readonly config: AwsIdentitySettings,
    private readonly loadChain: () => Promise<AwsIdentityProvider> = defaultChain,
  ) {}

  /** Throws SecretError. Renewed by the chain, shortly before it ends. */
  async provide(): Promise<AwsIdentity> {
    const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = this.config;
    if (accessKeyId !== undefined && secretAccessKey !== undefined) {
      return { accessKeyId, secretAccessKey, sessionToken: this.config.AWS_SESSION_TOKEN };
    }
    const chain = this.#chain ?? this.#load();
    const found = chain.then((find) => find());
    return within(this.config.SECRET_MANAGER_TIMEOUT_MS, found).catch(explain);
  }

  /** Has the chain ask anew: AWS has refused what it found before. */
  forget(): void {
    this.#chain = undefined;
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
  const { fromNodeProviderChain } = await import('@aws-sdk/credential-providers');
  return fromNodeProviderChain();
}

async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = new SecretError('timeout', `the gateway's own AWS identity was not found within ${timeoutMs} ms`);
    timer = setTimeout(() => reject(error), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function explain(error: unknown): never {
  if (error instanceof Error && error.name === 'CredentialsProviderError') {
    throw new SecretError('authentication_failed', 'the gateway has no AWS identity of its own', { cause: error });
  }
  throw toSecretError(error, []);
}
