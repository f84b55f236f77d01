import { Module } from '@nestjs/common';
import { GatewayModule } from '../gateway/gateway.module.js';
import { BETA_HEADERS } from '../gateway/relay/beta-header.js';
import { relayController } from '../gateway/relay/relay-controller.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { ASSISTANTS_PROVIDERS, VECTOR_STORE_PROVIDERS } from './assistants-providers.js';
import { ASSISTANTS_ROUTES } from './assistants.routes.js';
import { RunMeter } from './metering/run-meter.js';
import { VECTOR_STORE_ROUTES } from './vector-store.routes.js';

@Module({
  imports: [GatewayModule, UpstreamModule],
  controllers: [
    relayController({
      tag: 'Assistants',
      headers: BETA_HEADERS,
      routes: ASSISTANTS_ROUTES,
      providers: ASSISTANTS_PROVIDERS,
    }),
    relayController({
      tag: 'Vector stores',
      headers: BETA_HEADERS,
      routes: VECTOR_STORE_ROUTES,
      providers: VECTOR_STORE_PROVIDERS,
    }),
  ],
  providers: [RunMeter],
})
export class AssistantsModule {}
