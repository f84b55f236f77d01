import { HttpModule, HttpService } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { Clock } from '../common/time/clock.js';
import { AppConfig } from '../config/environment.js';
import { LOGGER, type Logger } from '../telemetry/logger.js';
import { Metrics } from '../telemetry/metrics.js';
import { EgressPolicy } from '../upstream/egress/egress-policy.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { AwsOwnIdentity } from '../upstream/aws/aws-own-identity.js';
import { IdentityAllowList } from './identity-allow-list.js';
import type { SecretManager } from './managers/secret-manager.types.js';
import { secretHttp, SecretTransport } from './managers/secret-transport.js';
import { MappedValues } from './mapped-resource/mapped-values.js';
import { SecretFetcher } from './secret-fetcher.js';
import { createSecretManagers, SECRET_MANAGERS, SecretManagers } from './secret-managers.js';
import { SecretReferenceCredentials, SecretReferenceEncryptor } from './secret-reference.credentials.js';
import { SecretReference } from './secret-reference.entity.js';
import { SecretReferenceProbe } from './secret-reference.probe.js';
import { SecretReferenceStatus } from './secret-reference.status.js';
import { SecretReferenceStore } from './secret-reference.store.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { SecretReferencesController } from './secret-references.controller.js';
import { SecretReferencesService } from './secret-references.service.js';
import { SecretResolver } from './secret-resolver.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([SecretReference]),
    HttpModule.registerAsync({
      imports: [UpstreamModule],
      inject: [EgressPolicy, AppConfig],
      useFactory: (egress: EgressPolicy, config: AppConfig) => secretHttp(egress, config.SECRET_MANAGER_TIMEOUT_MS),
    }),
    AuditModule,
    UpstreamModule,
    WebhooksModule,
  ],
  controllers: [SecretReferencesController],
  providers: [
    IdentityAllowList,
    SecretReferenceCredentials,
    SecretReferenceStore,
    SecretReferenceEncryptor,
    SecretReferencesService,
    {
      provide: SECRET_MANAGERS,
      inject: [EgressPolicy, HttpService, AppConfig, Clock, AwsOwnIdentity, LOGGER],
      useFactory: (
        egress: EgressPolicy,
        http: HttpService,
        config: AppConfig,
        clock: Clock,
        awsIdentity: AwsOwnIdentity,
        logger: Logger,
      ): readonly SecretManager[] => {
        const transport = new SecretTransport(egress, config);
        return createSecretManagers({ transport, http, awsIdentity, config, clock, logger });
      },
    },
    SecretManagers,
    SecretFetcher,
    SecretReferenceProbe,
    SecretReferenceStatus,
    {
      provide: SecretResolver,
      inject: [SecretFetcher, SecretReferenceStatus, Metrics, Clock, AppConfig],
      useFactory: (
        fetcher: SecretFetcher,
        status: SecretReferenceStatus,
        metrics: Metrics,
        clock: Clock,
        config: AppConfig,
      ): SecretResolver => {
        const lifetime = { cacheMs: config.SECRET_CACHE_MS, staleMs: config.SECRET_STALE_MS };
        return new SecretResolver({ fetcher, status, metrics, clock, lifetime, random: Math.random });
      },
    },
    MappedValues,
  ],
  exports: [MappedValues],
})
export class SecretReferencesModule {}
