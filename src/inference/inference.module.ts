import { Module } from '@nestjs/common';
import { GatewayModule } from '../gateway/gateway.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { InferenceController } from './inference.controller.js';
import { InferenceService } from './inference.service.js';

@Module({
  imports: [GatewayModule, UpstreamModule],
  controllers: [InferenceController],
  providers: [InferenceService],
})
export class InferenceModule {}
