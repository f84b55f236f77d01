import { Module } from '@nestjs/common';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { VirtualKeysModule } from '../virtual-keys/virtual-keys.module.js';
import { ProviderCallService } from './provider-call.service.js';

@Module({
  imports: [UpstreamModule, VirtualKeysModule],
  providers: [ProviderCallService],
  exports: [ProviderCallService, VirtualKeysModule],
})
export class GatewayModule {}
