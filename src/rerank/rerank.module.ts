import { Module } from '@nestjs/common';
import { GatewayModule } from '../gateway/gateway.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { RerankController } from './rerank.controller.js';
import { RerankService } from './rerank.service.js';

@Module({
  imports: [GatewayModule, UpstreamModule],
  controllers: [RerankController],
  providers: [RerankService],
})
export class RerankModule {}
