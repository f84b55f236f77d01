import { Module } from '@nestjs/common';
import { UsageModule } from '../usage/usage.module.js';
import { OverviewController } from './overview.controller.js';
import { OverviewService } from './overview.service.js';

@Module({
  imports: [UsageModule],
  controllers: [OverviewController],
  providers: [OverviewService],
})
export class OverviewModule {}
