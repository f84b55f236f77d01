import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { UpstreamModule } from '../upstream/upstream.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { bodyStoreProvider } from './body-store.provider.js';
import { LoggedBodies } from './logged-bodies.js';
import { RequestLog } from './request-log.entity.js';
import { RequestLogRecorder } from './request-log.recorder.js';
import { RequestLogRetention } from './request-log.retention.js';
import { RequestLogsController } from './request-logs.controller.js';
import { RequestLogsService } from './request-logs.service.js';

@Module({
  imports: [TypeOrmModule.forFeature([RequestLog]), WorkspacesModule, AuditModule, UpstreamModule],
  controllers: [RequestLogsController],
  providers: [bodyStoreProvider, LoggedBodies, RequestLogRecorder, RequestLogRetention, RequestLogsService],
})
export class RequestLogsModule {}
