import { Module } from '@nestjs/common';
import { GatewayModule } from '../gateway/gateway.module.js';
import { relayController } from '../gateway/relay/relay-controller.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { BATCH_PROVIDERS, FILE_PROVIDERS } from './batch-providers.js';
import { BATCH_ROUTES } from './batch.routes.js';
import { FILE_ROUTES } from './file.routes.js';
import { BatchMeter } from './metering/batch-meter.js';
import { BedrockBatchMeter } from './metering/bedrock-batch-meter.js';
import { UPLOAD_ROUTES } from './upload.routes.js';

@Module({
  imports: [GatewayModule, UpstreamModule],
  controllers: [
    relayController({ tag: 'Batches', routes: BATCH_ROUTES, providers: BATCH_PROVIDERS }),
    relayController({ tag: 'Files', routes: FILE_ROUTES, providers: FILE_PROVIDERS }),
    relayController({ tag: 'Uploads', routes: UPLOAD_ROUTES, providers: FILE_PROVIDERS }),
  ],
  providers: [BatchMeter, BedrockBatchMeter],
})
export class BatchesModule {}
