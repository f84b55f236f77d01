import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdempotencyKey } from './idempotency-key.entity.js';
import { IdempotencyRetention } from './idempotency.retention.js';
import { IdempotencyStore } from './idempotency.store.js';

/** Global: the creates of all rooms use it. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([IdempotencyKey])],
  providers: [IdempotencyRetention, IdempotencyStore],
  exports: [IdempotencyStore],
})
export class IdempotencyModule {}
