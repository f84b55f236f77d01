import { Module, type Provider } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { AppConfig } from '../config/environment.js';
import { ServerSecrets } from '../sealing/server-secrets.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { ApiKeyAuthenticator } from './authenticators/api-key.authenticator.js';
import { ExternalTokenAuthenticator } from './authenticators/external-token.authenticator.js';
import { IdentityProviderClient } from './authenticators/identity-provider-client.js';
import { MCP_AUTHENTICATORS, McpAuthentication } from './authenticators/mcp-authentication.js';
import type { McpAuthenticator } from './authenticators/mcp-authenticator.js';
import { OAuthTokenAuthenticator } from './authenticators/oauth-token.authenticator.js';
import { ResourceMetadata } from './authenticators/resource-metadata.js';
import { TokenValidator } from './authenticators/token-validator.js';
import { BearerForwarder } from './forwarding/bearer.forwarder.js';
import { ClaimsHeaderForwarder } from './forwarding/claims-header.forwarder.js';
import type { IdentityForwarder } from './forwarding/identity-forwarder.js';
import { IDENTITY_FORWARDERS, IdentityForwarding } from './forwarding/identity-forwarding.js';
import { JwtHeaderForwarder } from './forwarding/jwt-header.forwarder.js';
import { JwksController } from './jwt/jwks.controller.js';
import { readSigningKey } from './jwt/signing-key-file.js';
import { SigningKeys } from './jwt/signing-keys.js';
import { SessionBinding } from './sessions/session-binding.js';

const SESSION_SECRET_NAME = 'mcp_session_binding';

/** The configured secrets, then the database's own: setting a secret for the first time ends no session. */
const sessionBindingProvider: Provider<SessionBinding> = {
  provide: SessionBinding,
  inject: [AppConfig, ServerSecrets],
  useFactory: async (config: AppConfig, secrets: ServerSecrets): Promise<SessionBinding> => {
    const own = await secrets.getOrCreate(SESSION_SECRET_NAME);
    const [first, ...others] = config.MCP_SESSION_SECRETS.map((text) => Buffer.from(text));
    return new SessionBinding(first === undefined ? [own] : [first, ...others, own]);
  },
};

@Module({
  imports: [UpstreamModule, ApiKeysModule],
  controllers: [JwksController],
  providers: [
    {
      provide: SigningKeys,
      inject: [AppConfig],
      useFactory: async (config: AppConfig): Promise<SigningKeys> => {
        const { JWT_PUBLIC_KEYS_NEXT, JWT_PUBLIC_KEYS_PREVIOUS } = config;
        const current = await readSigningKey(config);
        return new SigningKeys({ JWT_PRIVATE_KEY: current, JWT_PUBLIC_KEYS_NEXT, JWT_PUBLIC_KEYS_PREVIOUS });
      },
    },
    {
      provide: IDENTITY_FORWARDERS,
      inject: [SigningKeys],
      useFactory: (keys: SigningKeys): readonly IdentityForwarder[] => [
        new ClaimsHeaderForwarder(),
        new BearerForwarder(),
        new JwtHeaderForwarder(keys),
      ],
    },
    IdentityForwarding,
    IdentityProviderClient,
    TokenValidator,
    ApiKeyAuthenticator,
    ExternalTokenAuthenticator,
    OAuthTokenAuthenticator,
    {
      provide: MCP_AUTHENTICATORS,
      inject: [ApiKeyAuthenticator, ExternalTokenAuthenticator, OAuthTokenAuthenticator],
      // In this order: keys before tokens, and the server's own provider before the gateway's authorization server.
      useFactory: (...authenticators: readonly McpAuthenticator[]): readonly McpAuthenticator[] => authenticators,
    },
    McpAuthentication,
    ResourceMetadata,
    sessionBindingProvider,
  ],
  exports: [IdentityForwarding, McpAuthentication, ResourceMetadata, SessionBinding, SigningKeys],
})
export class IdentityModule {}
