import { Global, Module } from '@nestjs/common';
import { APP_PIPE } from '@nestjs/core';
import { BodyRules } from './body-rules.js';
import { GatewayValidationPipe } from './gateway-validation.pipe.js';

@Global()
@Module({
  providers: [BodyRules, { provide: APP_PIPE, useClass: GatewayValidationPipe }],
  exports: [BodyRules],
})
export class ValidationModule {}
