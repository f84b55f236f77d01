import { Module } from '@nestjs/common';
import { GatewayModule } from '../gateway/gateway.module.js';
import { relayControllerElsewhere } from '../gateway/relay/relay-controller.js';
import { STORED_RESPONSES } from './response.routes.js';

/**
 * A separate module, since these routes must come after those of MCP servers, one of which may be named `responses`.
 */
@Module({
  imports: [GatewayModule],
  controllers: [relayControllerElsewhere(STORED_RESPONSES, ['', 'openai/v1'])],
})
export class StoredResponsesElsewhereModule {}
