import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { VirtualKeysModule } from '../virtual-keys/virtual-keys.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { AdminTokenVerifier } from './admin-token.verifier.js';
import { ApiKeyHasher } from './api-key-hasher.js';
import { ApiKeyIssuer } from './api-key-issuer.js';
import { ApiKeySecret } from './api-key-secret.entity.js';
import { ApiKey } from './api-key.entity.js';
import { ApiKeyStore } from './api-key.store.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';
import { Authenticator } from './authenticator.js';
import { CallerController } from './caller.controller.js';
import { CallerService } from './caller.service.js';
import { LastUse } from './last-use.js';
import { PlacedApiKeysController } from './placed-api-keys.controller.js';
import { PrincipalCache } from './principal.cache.js';
import { ProviderAccessReader } from './provider-access.reader.js';
import { RateLimiter } from './rate-limiter.js';
import { LoginAttempts } from './sessions/login-attempts.js';
import { LoginGrants } from './sessions/login-grants.js';
import { LoginProvider } from './sessions/login-provider.js';
import { LoginController } from './sessions/login.controller.js';
import { LoginService } from './sessions/login.service.js';
import { SessionAuthenticator } from './sessions/session-authenticator.js';
import { Session } from './sessions/session.entity.js';
import { SessionRetention } from './sessions/session.retention.js';
import { SessionTokens } from './sessions/session-tokens.js';
import { MembersController } from './sessions/members.controller.js';
import { MemberSessionsService } from './sessions/member-sessions.service.js';
import { MembersService } from './sessions/members.service.js';
import { SessionsController } from './sessions/sessions.controller.js';
import { SessionsService } from './sessions/sessions.service.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([ApiKey, ApiKeySecret, Session]),
    JwtModule.register({}),
    AuditModule,
    UpstreamModule,
    VirtualKeysModule,
    WorkspacesModule,
  ],
  controllers: [
    ApiKeysController,
    PlacedApiKeysController,
    CallerController,
    LoginController,
    SessionsController,
    MembersController,
  ],
  providers: [
    AdminTokenVerifier,
    ApiKeyHasher,
    ApiKeyIssuer,
    ApiKeyStore,
    ApiKeysService,
    Authenticator,
    CallerService,
    LastUse,
    LoginAttempts,
    LoginGrants,
    LoginProvider,
    LoginService,
    PrincipalCache,
    ProviderAccessReader,
    RateLimiter,
    SessionAuthenticator,
    SessionRetention,
    SessionTokens,
    SessionsService,
    MemberSessionsService,
    MembersService,
  ],
  exports: [ApiKeyIssuer, ApiKeysService, Authenticator],
})
export class ApiKeysModule {}
