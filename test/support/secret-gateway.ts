import { readString } from '../../src/common/json/read.js';
import { json, type ProviderCall, startFakeProvider, type FakeProvider } from './fake-provider.js';
import { FakeKvV2 } from './fake-vault-kv.js';
import { FakeVault } from './fake-vault.js';
import { GatewayClient } from './gateway-client.js';
import type { Answer } from './send.js';
import { startTestApp, type TestApp } from './test-app.js';

export const RERANKED = { id: 'r-1', results: [{ index: 0, relevance_score: 0.9 }] };

/** A gateway between a Vault with secrets and a provider that requires them. */
export class SecretGateway {
  private constructor(
    readonly app: TestApp,
    readonly provider: FakeProvider,
    readonly vault: FakeVault,
    readonly kv: FakeKvV2,
    readonly vaultToken: string,
    readonly admin = new GatewayClient(app.url),
  ) {}

  static async start(settings: Readonly<Record<string, string>> = {}): Promise<SecretGateway> {
    const [app, provider] = await Promise.all([startTestApp(settings), startFakeProvider()]);
    const now = (): number => Date.now();
    const vault = new FakeVault(now);
    const kv = vault.root.mount('secret', new FakeKvV2(now));
    vault.root.writePolicy('reader', { 'secret/data/*': ['read'] });
    await vault.listen();
    const token = vault.root.createToken({ policies: ['reader'], ttlSeconds: 0 });
    return new SecretGateway(app, provider, vault, kv, token);
  }

  /** Creates a reference to a secret of the Vault; returns its id. */
  async reference(path: string, fields: object = {}, client = this.admin): Promise<string> {
    const body = {
      name: path,
      manager_type: 'hashicorp_vault',
      auth_config: { vault_auth_type: 'token', vault_addr: this.vault.addr, vault_token: this.vaultToken },
      secret_path: `secret/${path}`,
      ...fields,
    };
    return readString((await client.create('/v1/secret-references', body))['id'], 'id');
  }

  /** Creates a virtual key for the provider, by default with the only field of a secret as key; returns its slug. */
  async virtualKey(secretReferenceId: string, fields: object = {}, client = this.admin): Promise<string> {
    const body = {
      name: 'mapped',
      provider: 'cohere',
      config: { base_url: this.provider.url },
      secret_mappings: [{ target_field: 'key', secret_reference_id: secretReferenceId }],
      ...fields,
    };
    return readString((await client.create('/v1/virtual-keys', body))['slug'], 'slug');
  }

  /** Makes the provider accept only these keys, after a delay. */
  accept(keys: readonly string[], milliseconds = 0): void {
    this.provider.replyWith((response, call) => {
      const reply = keys.includes(keyOf(call)) ? json(RERANKED) : json({ message: `no such key: ${keyOf(call)}` }, 401);
      setTimeout(() => reply(response, call), milliseconds);
    });
  }

  rerank(virtualKey: string, client = this.admin): Promise<Answer> {
    const body = { model: 'rerank-v3.5', query: 'q', documents: ['d'] };
    return client.post('/v1/rerank', body, { 'x-gateway-virtual-key': virtualKey });
  }

  /** How often the secret was read from the Vault. */
  readsOf(path: string): number {
    return this.vault.paths().filter((asked) => asked === `secret/data/${path}`).length;
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.provider.close();
    await this.vault.close();
  }
}

export function keyOf({ headers }: Pick<ProviderCall, 'headers'>): string {
  return (headers.authorization ?? '').replace(/^Bearer /, '');
}
