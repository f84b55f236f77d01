import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { VirtualKeysModule } from '../virtual-keys/virtual-keys.module.js';
import { Isolation } from './relay/isolation.js';
import { ProviderObject } from './relay/provider-object.entity.js';
import { RelayService } from './relay/relay.service.js';
import { ProviderCallService } from './provider-call.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([ProviderObject]), UpstreamModule, VirtualKeysModule],
  providers: [Isolation, ProviderCallService, RelayService],
  exports: [ProviderCallService, RelayService, VirtualKeysModule],
})
export class GatewayModule {}
