import { Module } from '@nestjs/common';
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

@Module({
  imports: [
    TypeOrmModule.forFeature([ApiKey, ApiKeySecret]),
    AuditModule,
    UpstreamModule,
    VirtualKeysModule,
    WorkspacesModule,
  ],
  controllers: [ApiKeysController, PlacedApiKeysController, CallerController],
  providers: [
    AdminTokenVerifier,
    ApiKeyHasher,
    ApiKeyIssuer,
    ApiKeyStore,
    ApiKeysService,
    Authenticator,
    CallerService,
    LastUse,
    PrincipalCache,
    ProviderAccessReader,
    RateLimiter,
  ],
  exports: [ApiKeyIssuer, ApiKeysService, Authenticator],
})
export class ApiKeysModule {}
