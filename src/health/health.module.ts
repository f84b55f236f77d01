import { Module } from '@nestjs/common';
import { HealthController, RootController } from './health.controller.js';
import { ReadinessService } from './readiness.service.js';

@Module({ controllers: [HealthController, RootController], providers: [ReadinessService], exports: [ReadinessService] })
export class HealthModule {}
