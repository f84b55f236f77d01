import { Module } from '@nestjs/common';
import { GatewayModule } from '../gateway/gateway.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { relayController } from '../gateway/relay/relay-controller.js';
import { BedrockController } from './bedrock.controller.js';
import { DrainedCalls } from './drained-calls.js';
import { FittedCalls } from './fitted-calls.js';
import { GeminiController } from './gemini.controller.js';
import { InferenceController } from './inference.controller.js';
import { InferenceService } from './inference.service.js';
import { IsolatedCalls } from './isolated-calls.js';
import { TranslatedCalls } from './translated-calls.js';
import { STORED_RESPONSES } from './response.routes.js';
import { VertexController } from './vertex.controller.js';
import { TokenCounter } from './token-counts/token-counter.js';

@Module({
  imports: [GatewayModule, UpstreamModule],
  controllers: [
    InferenceController,
    BedrockController,
    GeminiController,
    VertexController,
    relayController(STORED_RESPONSES),
  ],
  providers: [InferenceService, DrainedCalls, FittedCalls, IsolatedCalls, TokenCounter, TranslatedCalls],
})
export class InferenceModule {}
