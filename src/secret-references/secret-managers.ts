import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../common/time/clock.js';
import type { AppConfig } from '../config/environment.js';
import type { Logger } from '../telemetry/logger.js';
import type { AwsOwnIdentity } from '../upstream/vendors/aws-own-identity.js';
import type { IdentityAllowList } from './identity-allow-list.js';
import { AwsSecretsManager } from './managers/aws-secrets-manager.js';
import { AzureKeyVault } from './managers/azure-key-vault.js';
import { HashicorpVault } from './managers/hashicorp-vault.js';
import type { SecretTransport } from './managers/secret-transport.js';
import type { ManagerType, SecretManager } from './managers/secret-manager.types.js';

/** Injection token of the list of secret managers. */
export const SECRET_MANAGERS = Symbol('SECRET_MANAGERS');

/** What the managers are made of. */
export interface SecretManagerParts {
  readonly transport: SecretTransport;
  readonly allowList: IdentityAllowList;
  readonly awsIdentity: AwsOwnIdentity;
  readonly config: AppConfig;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** All secret managers, one line each. */
export function createSecretManagers({
  transport,
  allowList,
  awsIdentity,
  config,
  clock,
  logger,
}: SecretManagerParts): readonly SecretManager[] {
  return [
    new AwsSecretsManager(transport, allowList, config, awsIdentity),
    new AzureKeyVault(transport, allowList, config),
    new HashicorpVault(transport, allowList, clock, logger),
  ];
}

/** The secret managers by their types. */
@Injectable()
export class SecretManagers implements OnApplicationShutdown {
  readonly #byType: ReadonlyMap<ManagerType, SecretManager>;

  constructor(@Inject(SECRET_MANAGERS) managers: readonly SecretManager[]) {
    this.#byType = new Map(managers.map((manager) => [manager.type, manager]));
  }

  get(type: ManagerType): SecretManager {
    const manager = this.#byType.get(type);
    if (manager === undefined) throw new Error(`a secret reference of an unknown manager: ${type}`);
    return manager;
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.#byType.values()].map(async (manager) => manager.close?.()));
  }
}
