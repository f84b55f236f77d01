import { HttpService } from '@nestjs/axios';
import axios from 'axios';
import { TestClock } from '../../../../test/support/test-clock.js';
import { FakeAppRole } from '../../../../test/support/fake-vault-auth.js';
import { FakeKvV1, FakeKvV2 } from '../../../../test/support/fake-vault-kv.js';
import type { TokenGrant } from '../../../../test/support/fake-vault-tokens.js';
import { FakeVault } from '../../../../test/support/fake-vault.js';
import type { Logger } from '../../../telemetry/logger.js';
import type { TestCertificate } from '../../../upstream/__fixtures__/certificate.js';
import { EgressPolicy } from '../../../upstream/egress/egress-policy.js';
import { HashicorpVault } from '../hashicorp-vault.js';
import { SecretError, type AuthConfig, type SecretRequest } from '../secret-manager.types.js';
import { secretHttp } from '../secret-transport.js';

export const ORGANISATION = '0f0e0d0c-0b0a-4908-8706-050403020100';
export const ROLE_ID = '59d6d1ca-47bb-4e7e-a40b-8be3bc5a0ba8';
export const SECRET_ID = '84896a0c-1347-aa90-a4f6-aca8b7558780';

/** A Vault with one engine of each version, and an AppRole that may read from both. */
export class VaultScene {
  readonly clock = TestClock.still();
  readonly vault = new FakeVault(() => this.clock.now().getTime());
  readonly kv1 = this.vault.root.mount('kv', new FakeKvV1());
  readonly kv2 = this.vault.root.mount('secret', new FakeKvV2(() => this.clock.now().getTime()));
  readonly approle = this.vault.root.enableAuth('approle', new FakeAppRole());

  static async start(certificate?: TestCertificate): Promise<VaultScene> {
    const scene = new VaultScene();
    scene.vault.root.writePolicy('reader', { 'kv/*': ['read'], 'secret/data/*': ['read'] });
    scene.kv1.put('db', { password: 'one' });
    scene.kv2.put('db', { password: 'two' });
    await scene.vault.listen(certificate);
    return scene;
  }

  manager(options: ManagerOptions = {}): HashicorpVault {
    const { egress = ['127.0.0.1/32', '::1/128', 'localhost'], timeoutMs = 10_000 } = options;
    return new HashicorpVault(
      new HttpService(axios.create(secretHttp(new EgressPolicy(egress), timeoutMs))),
      this.clock,
      options.logger ?? { warn: () => undefined },
      options.serviceAccountTokenPath,
    );
  }

  /** A request with the AppRole; its token is as `allowLogin` has said. */
  request(changes: Partial<SecretRequest> = {}, config: AuthConfig = {}): SecretRequest {
    return {
      organisationId: ORGANISATION,
      authConfig: {
        vendorC_auth_type: 'approle',
        vendorC_addr: this.vault.addr,
        vendorC_role_id: ROLE_ID,
        vendorC_secret_id: SECRET_ID,
        ...config,
      },
      path: 'secret/db',
      version: undefined,
      ...changes,
    };
  }

  /** The same with a token of its own. */
  tokenRequest(token: string, changes: Partial<SecretRequest> = {}, config: AuthConfig = {}): SecretRequest {
    const authConfig = { vendorC_auth_type: 'token', vendorC_addr: this.vault.addr, vendorC_token: token, ...config };
    return { organisationId: ORGANISATION, authConfig, path: 'secret/db', version: undefined, ...changes };
  }

  allowLogin(grant: TokenGrant = {}, secretIdNumUses = 0): void {
    this.approle.addRole(ROLE_ID, SECRET_ID, { policies: ['reader'], ...grant }, secretIdNumUses);
  }

  /** How often a path was asked for. */
  count(path: string): number {
    return this.vault.paths().filter((other) => other === path).length;
  }
}

interface ManagerOptions {
  /** EGRESS_ALLOW. */
  readonly egress?: readonly string[];
  readonly timeoutMs?: number;
  readonly serviceAccountTokenPath?: string;
  readonly logger?: Logger;
}

/** The error that a fetch must end with. */
export async function secretErrorOf(work: Promise<unknown>): Promise<SecretError> {
  const outcome: unknown = await work.then(
    () => 'a secret',
    (error: unknown) => error,
  );
  if (outcome instanceof SecretError) return outcome;
  throw new Error('expected a SecretError', { cause: outcome });
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  return (await secretErrorOf(work)).code;
}
