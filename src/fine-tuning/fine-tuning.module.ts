import { Module } from '@nestjs/common';
import { GatewayModule } from '../gateway/gateway.module.js';
import { relayController } from '../gateway/relay/relay-controller.js';
import { FINE_TUNING_PROVIDERS } from './fine-tuning-providers.js';
import { FINE_TUNING_ROUTES } from './fine-tuning.routes.js';

@Module({
  imports: [GatewayModule],
  controllers: [relayController({ tag: 'Fine-tuning', routes: FINE_TUNING_ROUTES, providers: FINE_TUNING_PROVIDERS })],
})
export class FineTuningModule {}
