import { Module } from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { AccessModule } from './access/access.module.js';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AuthenticationGuard } from './api-keys/authentication.guard.js';
import { TenantGuard } from './api-keys/tenant.guard.js';
import { AssistantsModule } from './assistants/assistants.module.js';
import { AuditModule } from './audit/audit.module.js';
import { BatchesModule } from './batches/batches.module.js';
import { JsonBodyGuard } from './server/json-body.guard.js';
import { TimeModule } from './common/time/time.module.js';
import { ValidationModule } from './common/validation/validation.module.js';
import { ConfigModule } from './config/config.module.js';
import { AppConfig } from './config/environment.js';
import { DatabaseModule } from './database/database.module.js';
import { ENTITIES } from './entities.js';
import { FineTuningModule } from './fine-tuning/fine-tuning.module.js';
import { FirstStartModule } from './first-start/first-start.module.js';
import { HealthModule } from './health/health.module.js';
import { PoliciesModule } from './policies/policies.module.js';
import { McpModule } from './mcp/mcp.module.js';
import { IdentityModule } from './identity/identity.module.js';
import { InferenceModule } from './inference/inference.module.js';
import { StoredResponsesElsewhereModule } from './inference/stored-responses-elsewhere.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { OverviewModule } from './overview/overview.module.js';
import { RedisModule } from './redis/redis.module.js';
import { RequestLogsModule } from './request-logs/request-logs.module.js';
import { RerankModule } from './rerank/rerank.module.js';
import { SealingModule } from './sealing/sealing.module.js';
import { SecretReferencesModule } from './secret-references/secret-references.module.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';
import { PricesModule } from './usage/prices/prices.module.js';
import { UsageModule } from './usage/usage.module.js';
import { VirtualKeysModule } from './virtual-keys/virtual-keys.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { WorkspacesModule } from './workspaces/workspaces.module.js';

@Module({
  imports: [
    // Their routes are tried first, since they are asked most.
    RerankModule,
    InferenceModule,
    // lowest room first
    ConfigModule,
    TimeModule,
    AccessModule,
    ValidationModule,
    TelemetryModule,
    DatabaseModule.forRoot(ENTITIES),
    RedisModule,
    SealingModule,
    IdempotencyModule,
    AuditModule,
    WorkspacesModule,
    WebhooksModule,
    PricesModule,
    UsageModule,
    ApiKeysModule,
    SecretReferencesModule,
    VirtualKeysModule,
    PoliciesModule,
    IdentityModule,
    BatchesModule,
    FineTuningModule,
    AssistantsModule,
    RequestLogsModule,
    OverviewModule,
    HealthModule,
    FirstStartModule,
    // Behind all that it could hide: its addresses begin with names that administrators choose.
    McpModule,
    StoredResponsesElsewhereModule,
  ],
  providers: [
    // In this order: who calls, then its body, then the tenant that the body may name.
    { provide: APP_GUARD, useClass: AuthenticationGuard },
    {
      provide: APP_GUARD,
      inject: [AppConfig, Reflector],
      useFactory: (config: AppConfig, reflector: Reflector): JsonBodyGuard =>
        new JsonBodyGuard(
          {
            maxBytes: config.MAX_JSON_BODY_BYTES,
            totalMs: config.JSON_BODY_TIMEOUT_MS,
            silenceMs: config.BODY_SILENCE_MS,
          },
          reflector,
          config.INFERENCE_MAX_BODY_BYTES,
        ),
    },
    { provide: APP_GUARD, useClass: TenantGuard },
  ],
})
export class AppModule {}
