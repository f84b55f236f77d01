import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { PoliciesModule } from '../policies/policies.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { UsageModule } from '../usage/usage.module.js';
import { VirtualKeysModule } from '../virtual-keys/virtual-keys.module.js';
import { Isolation } from './relay/isolation.js';
import { ProviderObject } from './relay/provider-object.entity.js';
import { RelayService } from './relay/relay.service.js';
import { ProviderCallService } from './provider-call.service.js';
import { CallPrices, UsageMeter } from './usage-meter.js';
import { UsedUpLimits } from './used-up-limits.js';
import { VirtualKeyFinder } from './virtual-key.finder.js';

@Module({
  imports: [TypeOrmModule.forFeature([ProviderObject]), PoliciesModule, UpstreamModule, UsageModule, VirtualKeysModule],
  providers: [CallPrices, Isolation, ProviderCallService, RelayService, UsageMeter, UsedUpLimits, VirtualKeyFinder],
  exports: [Isolation, ProviderCallService, RelayService, VirtualKeyFinder],
})
export class GatewayModule {}
