import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { VirtualKeysModule } from '../virtual-keys/virtual-keys.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { ModelRouteCache } from './model-route.cache.js';
import { ModelRoute } from './model-route.entity.js';
import { ModelRouteStore } from './model-route.store.js';
import { ModelRoutesController } from './model-routes.controller.js';
import { ModelRoutesService } from './model-routes.service.js';
import { SharedPauses } from './shared-pauses.js';
import { TargetHealth } from './target-health.js';

@Module({
  imports: [TypeOrmModule.forFeature([ModelRoute]), AuditModule, VirtualKeysModule, WorkspacesModule],
  controllers: [ModelRoutesController],
  providers: [ModelRouteCache, ModelRouteStore, ModelRoutesService, SharedPauses, TargetHealth],
  exports: [ModelRouteCache, TargetHealth],
})
export class ModelRoutesModule {}
