import { Global, Module } from '@nestjs/common';
import { AppConfig } from '../config/environment.js';
import { loadKeyRing } from './key-ring.js';
import { Sealer } from './sealer.js';
import { ServerSecrets } from './server-secrets.js';

@Global()
@Module({
  providers: [
    {
      provide: Sealer,
      inject: [AppConfig],
      useFactory: (config: AppConfig): Sealer => new Sealer(loadKeyRing(config)),
    },
    ServerSecrets,
  ],
  exports: [Sealer, ServerSecrets],
})
export class SealingModule {}
