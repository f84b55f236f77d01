import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import axios from 'axios';
import { TestClock } from '../../test/support/test-clock.js';
import { Watched } from '../../test/support/watched.js';
import { type AppConfig, loadConfig } from '../config/environment.js';
import { Metrics } from '../telemetry/metrics.js';
import { secretReference } from './__fixtures__/secret-reference.js';
import { AwsSecretsManager } from './managers/aws-secrets-manager.js';
import { AzureKeyVault } from './managers/azure-key-vault.js';
import { HashicorpVault } from './managers/hashicorp-vault.js';
import type { AuthConfig, SecretDocument, SecretManager } from './managers/secret-manager.types.js';
import { SecretTransport } from './managers/secret-transport.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { AwsOwnIdentity } from '../upstream/aws/aws-own-identity.js';
import { SecretResolver } from './secret-resolver.js';

const HOUR = 3_600_000;

// The managers load these at their first use, which takes longer than the time that these tests make up.
beforeAll(async () => {
  await Promise.all([import('@azure/identity'), import('@azure/keyvault-secrets')]);
});

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  // The caches have this object since they were loaded.
  jest.spyOn(performance, 'now').mockImplementation(() => Date.now());
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

describe('a fetched secret leaves the memory', () => {
  it('drops a fetched secret when its time is over, though a provider had refused it', async () => {
    const documents = new Watched<SecretDocument>();
    const fetcher = { fetch: () => Promise.resolve(documents.hand({ kind: 'text', text: 'x' })) };
    const resolver = new SecretResolver({
      fetcher,
      status: { note: () => undefined },
      metrics: new Metrics(),
      clock: new TestClock(),
      lifetime: { cacheMs: 1_000, staleMs: 1_000 },
      random: () => 0.5,
    });
    await resolver.resolve(secretReference());
    await resolver.refresh(secretReference());
    expect(await documents.left()).toBe(1);
    jest.advanceTimersByTime(60_000);
    expect(await documents.left()).toBe(0);
  });
});

describe('the credentials for a manager leave the memory', () => {
  const AUTH: Readonly<Record<string, AuthConfig>> = {
    cloudA_sm: {
      cloudA_auth_type: 'accessKey',
      cloudA_access_key_id: 'AKIDEXAMPLE123456789',
      cloudA_secret_access_key: 'x',
      cloudA_region: 'us-east-1',
    },
    cloudB_kv: {
      cloudB_auth_mode: 'entra',
      cloudB_entra_tenant_id: '3f0c2a52-7a8e-4f57-9a3e-0d7a9f1b2c3d',
      cloudB_entra_client_id: '3f0c2a52-7a8e-4f57-9a3e-0d7a9f1b2c3d',
      cloudB_entra_client_secret: 'x',
      cloudB_vault_url: 'https://a.vault.azure.net',
    },
  };

  /** Hands a way over the network to each session, which is not used: no server is there. */
  class WatchedTransport extends SecretTransport {
    readonly sends = new Watched<() => Promise<never>>();

    constructor() {
      super(new EgressPolicy([]), loadConfig({}));
    }

    override sender(): () => Promise<never> {
      return this.fetchWith();
    }

    override fetchWith(): () => Promise<never> {
      return this.sends.hand(() => Promise.reject(new TypeError('no server')));
    }
  }

  type Create = (transport: SecretTransport, config: AppConfig) => SecretManager;

  async function fetchWith(create: Create, transport: SecretTransport): Promise<SecretManager> {
    const config = loadConfig({});
    const manager = create(transport, config);
    const authConfig = AUTH[manager.type] ?? {};
    const fetching = manager.fetch({ organisationId: 'o', authConfig, path: 'a', version: undefined });
    await settled(fetching.catch(() => undefined));
    return manager;
  }

  it.each<[string, Create]>([
    ['AWS', (transport, config) => new AwsSecretsManager(transport, config, new AwsOwnIdentity(config))],
    ['Azure', (transport, config) => new AzureKeyVault(transport, config)],
  ])('drops credentials an hour after their last use: %s', async (_name, create) => {
    // The AWS SDK never lets go of its first client: the error for a shared configuration that is not there has its stack.
    await fetchWith(create, new WatchedTransport());
    const transport = new WatchedTransport();
    const manager = await fetchWith(create, transport);
    expect(await transport.sends.left()).toBeGreaterThan(0);
    jest.advanceTimersByTime(2 * HOUR);
    expect(await transport.sends.left()).toBe(0);
    await manager.close();
  });

  it('drops credentials for Vault an hour after their last use', async () => {
    const axiosRef = axios.create({ adapter: () => Promise.reject(new TypeError('no server')) });
    const manager = new HashicorpVault({ axiosRef }, new TestClock(), { warn: () => undefined });
    const configs = new Watched<AuthConfig>();
    await fetchFromVault(manager, configs);
    expect(await configs.left()).toBe(1);
    jest.advanceTimersByTime(2 * HOUR);
    expect(await configs.left()).toBe(0);
    await manager.close();
  });

  async function fetchFromVault(manager: HashicorpVault, configs: Watched<AuthConfig>): Promise<void> {
    const authConfig = configs.hand({
      vendorC_auth_type: 'approle',
      vendorC_addr: 'https://vault.example',
      vendorC_role_id: 'x',
      vendorC_secret_id: 'x',
    });
    const request = { organisationId: 'o', authConfig, path: 'secret/a', version: undefined };
    await manager.fetch(request).catch(() => undefined);
  }

  /** The SDKs wait before they try again. */
  async function settled(work: Promise<unknown>): Promise<void> {
    let done = false;
    void work.then(() => (done = true));
    while (!done) {
      await new Promise((next) => setImmediate(next));
      jest.advanceTimersByTime(100);
    }
  }
});
