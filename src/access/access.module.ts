import { Global, Module } from '@nestjs/common';
import { Upserts } from './upserts.js';

@Global()
@Module({ providers: [Upserts], exports: [Upserts] })
export class AccessModule {}
