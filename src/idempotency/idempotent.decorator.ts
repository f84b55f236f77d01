import { applyDecorators, UseInterceptors } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { MayFail } from '../common/errors/may-fail.decorator.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { HEADER } from './idempotency.store.js';

const DESCRIPTION = `Names this create. Within a day, the same request with the same value returns the same answer, with the header
\`Idempotent-Replayed: true\`, and creates nothing.`;

/** A create that callers may repeat: see `Idempotency-Key` in docs/guides/administrators.md. */
export function IdempotentCreate(): MethodDecorator {
  return applyDecorators(
    UseInterceptors(IdempotencyInterceptor),
    MayFail('idempotency_key_in_use', 'idempotency_key_reused'),
    ApiHeader({
      name: HEADER,
      required: false,
      description: DESCRIPTION,
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    }),
  );
}
