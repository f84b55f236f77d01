import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { RequestLog } from './request-log.entity.js';
import { RequestLogRecorder } from './request-log.recorder.js';
import { RequestLogRetention } from './request-log.retention.js';
import { RequestLogsController } from './request-logs.controller.js';
import { RequestLogsService } from './request-logs.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([RequestLog]), WorkspacesModule],
  controllers: [RequestLogsController],
  providers: [RequestLogRecorder, RequestLogRetention, RequestLogsService],
})
export class RequestLogsModule {}
