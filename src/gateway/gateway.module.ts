import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ModelRoutesModule } from '../model-routes/model-routes.module.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { VirtualKeysModule } from '../virtual-keys/virtual-keys.module.js';
import { ModelsController } from './models/models.controller.js';
import { ModelsService } from './models/models.service.js';
import { DeferredCalls } from './deferred/deferred-calls.js';
import { DeferredMeters } from './deferred/deferred-meter.js';
import { JobAdmission } from './deferred/job-admission.js';
import { JobCharges } from './deferred/job-charges.js';
import { JobKeeper } from './deferred/job-keeper.js';
import { JobReader } from './deferred/job-reader.js';
import { ProviderFiles } from './deferred/provider-files.js';
import { ProviderJob } from './deferred/provider-job.entity.js';
import { ProviderJobStore } from './deferred/provider-job.store.js';
import { Isolation } from './relay/isolation.js';
import { ProviderObject } from './relay/provider-object.entity.js';
import { RelayService } from './relay/relay.service.js';
import { LimitStates } from './routing/limit-states.js';
import { ResponsePin } from './routing/response-pin.entity.js';
import { ResponsePinRetention } from './routing/response-pin.retention.js';
import { ResponsePins } from './routing/response-pins.js';
import { RoutedCalls } from './routing/routed-calls.js';
import { ProviderCallService } from './provider-call.service.js';
import { CallPrices, UsageMeter } from './usage-meter.js';
import { UsedUpLimits } from './used-up-limits.js';
import { VirtualKeyFinder } from './virtual-key.finder.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([ProviderJob, ProviderObject, ResponsePin]),
    ModelRoutesModule,
    PoliciesModule,
    UpstreamModule,
    UsageModule,
    VirtualKeysModule,
  ],
  controllers: [ModelsController],
  providers: [
    ModelsService,
    CallPrices,
    DeferredCalls,
    DeferredMeters,
    Isolation,
    JobAdmission,
    JobCharges,
    JobKeeper,
    JobReader,
    LimitStates,
    ProviderCallService,
    ProviderFiles,
    ProviderJobStore,
    RelayService,
    ResponsePinRetention,
    ResponsePins,
    RoutedCalls,
    UsageMeter,
    UsedUpLimits,
    VirtualKeyFinder,
  ],
  exports: [
    DeferredMeters,
    Isolation,
    JobReader,
    ProviderFiles,
    ProviderCallService,
    RelayService,
    ResponsePins,
    RoutedCalls,
    VirtualKeyFinder,
  ],
})
export class GatewayModule {}
