import { Module } from '@nestjs/common';
import { GatewayModule } from '../gateway/gateway.module.js';
import { relayController } from '../gateway/relay/relay-controller.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { FINE_TUNING_PROVIDERS } from './fine-tuning-providers.js';
import { FINE_TUNING_ROUTES } from './fine-tuning.routes.js';
import { BedrockFineTuningMeter } from './metering/bedrock-fine-tuning-meter.js';
import { FineTuningMeter } from './metering/fine-tuning-meter.js';

@Module({
  imports: [GatewayModule, UpstreamModule],
  controllers: [relayController({ tag: 'Fine-tuning', routes: FINE_TUNING_ROUTES, providers: FINE_TUNING_PROVIDERS })],
  providers: [FineTuningMeter, BedrockFineTuningMeter],
})
export class FineTuningModule {}
