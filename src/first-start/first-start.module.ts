import { Module } from '@nestjs/common';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { VirtualKeysModule } from '../virtual-keys/virtual-keys.module.js';
import { FirstStartService } from './first-start.service.js';

@Module({ imports: [ApiKeysModule, VirtualKeysModule], providers: [FirstStartService] })
export class FirstStartModule {}
