import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { PolicyCache } from './policy.cache.js';
import { PolicyNames } from './policy-names.js';
import { PolicyStore } from './policy.store.js';
import { SimulatedCalls } from './simulated-calls.js';
import { UsageEntitiesService } from './usage-entities.service.js';
import { UsageLimitsController } from './usage-limits.controller.js';
import { UsageLimitsService } from './usage-limits.service.js';
import { UsagePolicy } from './usage-policy.entity.js';
import { UsageSimulator } from './usage-simulator.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([UsagePolicy, VirtualKey]),
    ApiKeysModule,
    AuditModule,
    UpstreamModule,
    UsageModule,
    WorkspacesModule,
  ],
  controllers: [UsageLimitsController],
  providers: [
    PolicyCache,
    PolicyNames,
    PolicyStore,
    SimulatedCalls,
    UsageEntitiesService,
    UsageLimitsService,
    UsageSimulator,
  ],
  exports: [PolicyCache],
})
export class PoliciesModule {}
