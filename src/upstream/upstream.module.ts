import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { NEVER_ABORTED } from '../common/http/client-connection.js';
import { Clock } from '../common/time/clock.js';
import { foldId } from '../common/uuid.js';
import { AppConfig } from '../config/environment.js';
import { EgressPolicy } from './egress/egress-policy.js';
import { UpstreamClient } from './upstream-client.js';
import { AwsCredentialSource } from './aws/aws-credentials.js';
import { AwsOwnIdentity } from './aws/aws-own-identity.js';
import { createProviders, PROVIDERS } from './providers/provider-list.js';
import { OfferedEndpoints } from './providers/offered-endpoints.js';
import type { Provider } from './providers/provider.types.js';
import { ProviderRegistry } from './providers/provider.registry.js';

const CONNECT_TIMEOUT_MS = 5_000;
const STS_TIMEOUT_MS = 5_000;
const STS_MAX_BYTES = 64 * 1024;

@Module({
  providers: [
    {
      provide: EgressPolicy,
      inject: [AppConfig],
      useFactory: (config: AppConfig): EgressPolicy => EgressPolicy.of(config),
    },
    {
      provide: UpstreamClient,
      inject: [EgressPolicy, AppConfig],
      useFactory: (egress: EgressPolicy, config: AppConfig): UpstreamClient =>
        new UpstreamClient(egress, {
          connectionsPerOrigin: config.PROVIDER_CONNECTIONS_PER_ORIGIN,
          connectTimeoutMs: CONNECT_TIMEOUT_MS,
          keepAliveMs: config.STREAM_KEEP_ALIVE_MS,
          uploadSilenceMs: config.BODY_SILENCE_MS,
        }),
    },
    {
      provide: AwsOwnIdentity,
      inject: [AppConfig],
      useFactory: (config: AppConfig): AwsOwnIdentity => new AwsOwnIdentity(config),
    },
    {
      provide: PROVIDERS,
      inject: [UpstreamClient, AwsOwnIdentity, AppConfig, Clock],
      useFactory: (
        client: UpstreamClient,
        ownIdentity: AwsOwnIdentity,
        config: AppConfig,
        clock: Clock,
      ): readonly Provider[] =>
        createProviders({ awsCredentials: createAwsCredentials(client, ownIdentity, config, clock) }),
    },
    ProviderRegistry,
    OfferedEndpoints,
  ],
  exports: [AwsOwnIdentity, EgressPolicy, UpstreamClient, ProviderRegistry, OfferedEndpoints],
})
export class UpstreamModule implements OnApplicationShutdown {
  constructor(@Inject(UpstreamClient) private readonly client: UpstreamClient) {}

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }
}

/** Sessions are shared between requests, so a caller that leaves must not end the call that makes one. */
function createAwsCredentials(
  client: UpstreamClient,
  ownIdentity: AwsOwnIdentity,
  config: AppConfig,
  clock: Clock,
): AwsCredentialSource {
  return new AwsCredentialSource({
    send: (request) =>
      client.send({
        request,
        timeoutMs: STS_TIMEOUT_MS,
        maxResponseBytes: STS_MAX_BYTES,
        retry: 'idempotent',
        caller: NEVER_ABORTED,
      }),
    now: () => clock.now(),
    stsEndpoint: config.AWS_ENDPOINT_URL_STS,
    ownIdentity,
    allowedServiceRoleOrganisations: config.AWS_SERVICE_ROLE_ORGANISATIONS.map(foldId),
  });
}
