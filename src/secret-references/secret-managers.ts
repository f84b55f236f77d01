import type { HttpService } from '@nestjs/axios';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Clock } from '../common/time/clock.js';
import type { AppConfig } from '../config/environment.js';
import type { Logger } from '../telemetry/logger.js';
import type { AwsOwnIdentity } from '../upstream/aws/aws-own-identity.js';
import { authScheme } from './auth-config/auth-schemes.js';
import { IdentityAllowList } from './identity-allow-list.js';
import { AwsSecretsManager } from './managers/aws-secrets-manager.js';
import { AzureKeyVault } from './managers/azure-key-vault.js';
import { HashicorpVault } from './managers/hashicorp-vault.js';
import type { SecretTransport } from './managers/secret-transport.js';
import {
  type ManagerType,
  type SecretDocument,
  SecretError,
  type SecretManager,
  type SecretRequest,
} from './managers/secret-manager.types.js';

/** Injection token of the list of secret managers. */
export const SECRET_MANAGERS = Symbol('SECRET_MANAGERS');

/** What the managers are made of. */
export interface SecretManagerParts {
  readonly transport: SecretTransport;
  readonly http: HttpService;
  readonly awsIdentity: AwsOwnIdentity;
  readonly config: AppConfig;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** All secret managers, one line each. */
export function createSecretManagers({
  transport,
  http,
  awsIdentity,
  config,
  clock,
  logger,
}: SecretManagerParts): readonly SecretManager[] {
  return [
    new AwsSecretsManager(transport, config, awsIdentity),
    new AzureKeyVault(transport, config),
    new HashicorpVault(http, clock, logger),
  ];
}

/** The secret managers by their types. */
@Injectable()
export class SecretManagers implements OnApplicationShutdown {
  readonly #byType: ReadonlyMap<ManagerType, SecretManager>;

  constructor(
    @Inject(SECRET_MANAGERS) managers: readonly SecretManager[],
    private readonly identities: IdentityAllowList,
  ) {
    this.#byType = new Map(managers.map((manager) => [manager.type, manager]));
  }

  /** @throws SecretError */
  async fetch(type: ManagerType, request: SecretRequest): Promise<SecretDocument> {
    const manager = this.#byType.get(type);
    if (manager === undefined) throw new Error(`a secret reference of an unknown manager: ${type}`);
    this.#checkIdentity(type, request);
    return manager.fetch(request);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.#byType.values()].map(async (manager) => manager.close()));
  }

  /** On every fetch: the setting may have changed since the reference was made, and a session may be older than it. */
  #checkIdentity(type: ManagerType, { organisationId, authConfig, path, version }: SecretRequest): void {
    const target = authScheme(type).identityTarget(authConfig, { path, version });
    if (target === undefined || this.identities.allows(organisationId, type, target)) return;
    throw new SecretError(
      'identity_not_allowed',
      `SECRET_IDENTITY_ALLOW does not let the organisation use the gateway's own identity for ${target}`,
    );
  }
}
