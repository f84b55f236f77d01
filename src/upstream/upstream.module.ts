import { Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import { NEVER_ABORTED } from '../common/http/client-connection.js';
import { Clock } from '../common/time/clock.js';
import { foldId } from '../common/uuid.js';
import { AppConfig } from '../config/environment.js';
import { EgressPolicy } from './egress/egress-policy.js';
import { UpstreamClient } from './upstream-client.js';
import { AwsCredentialSource } from './aws/aws-credentials.js';
import { AwsOwnIdentity } from './aws/aws-own-identity.js';
import { loneSender } from './egress/lone-sender.js';
import { GoogleTokenSource } from './google/google-tokens.js';
import { createProviders, PROVIDERS } from './providers/provider-list.js';
import { OfferedEndpoints } from './providers/offered-endpoints.js';
import type { Provider } from './providers/provider.types.js';
import { ProviderRegistry } from './providers/provider.registry.js';
import type { UpstreamAnswer, UpstreamRequest } from './upstream.types.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Limits on requests to services that issue credentials. */
const TOKEN_TIMEOUT_MS = 5_000;
const TOKEN_MAX_BYTES = 64 * 1024;

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
      ): readonly Provider[] => createProviders(createCredentialSources(client, ownIdentity, config, clock)),
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

interface CredentialSources {
  readonly awsCredentials: AwsCredentialSource;
  readonly googleTokens: GoogleTokenSource;
}

function createCredentialSources(
  client: UpstreamClient,
  ownIdentity: AwsOwnIdentity,
  config: AppConfig,
  clock: Clock,
): CredentialSources {
  // Requests share credentials, so a client that disconnects must not end the request for one.
  const bounds = { timeoutMs: TOKEN_TIMEOUT_MS, maxResponseBytes: TOKEN_MAX_BYTES, caller: NEVER_ABORTED };
  const send = (request: UpstreamRequest): Promise<UpstreamAnswer> =>
    client.send({ request, ...bounds, retry: 'idempotent' });
  const now = (): Date => clock.now();
  const awsCredentials = new AwsCredentialSource({
    send,
    now,
    stsEndpoint: config.AWS_ENDPOINT_URL_STS,
    ownIdentity,
    allowedServiceRoleOrganisations: config.AWS_SERVICE_ROLE_ORGANISATIONS.map(foldId),
  });
  // Has its own egress policy, which allows only the metadata server. In EGRESS_ALLOW, every tenant could call it.
  const toMachine = loneSender(new EgressPolicy([metadataServer(config)]), CONNECT_TIMEOUT_MS);
  const googleTokens = new GoogleTokenSource({
    send,
    sendToMachine: (request) => toMachine({ request, ...bounds }),
    now,
    awsIdentity: (organisationId, region) =>
      awsCredentials.resolve({ key: undefined, options: { aws_auth_type: 'serviceRole' }, organisationId }, region),
    metadataHost: config.GCE_METADATA_HOST,
    files: config.GOOGLE_SUBJECT_TOKEN_FILES,
    allowedOrganisations: config.GOOGLE_IDENTITY_ORGANISATIONS.map(foldId),
    allowedHosts: config.GOOGLE_API_HOSTS,
  });
  return { awsCredentials, googleTokens };
}

function metadataServer({ GCE_METADATA_HOST: host }: AppConfig): string {
  return host.includes(':') ? host : `${host}:80`;
}
