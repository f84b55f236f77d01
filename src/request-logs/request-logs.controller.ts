import { Controller, Get, Param, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { toLogList } from '../common/pagination/list.js';
import { RequestLogListQuery } from './dto/request-log-list.query.js';
import { LoggedBodiesResponse, toLoggedBodiesResponse } from './logged-bodies.response.js';
import { RequestLogListResponse, RequestLogResponse, toRequestLogResponse } from './request-log.response.js';
import { RequestLogsService } from './request-logs.service.js';

@ManagementApi('Logs')
@Controller('v1/logs')
export class RequestLogsController {
  constructor(private readonly logs: RequestLogsService) {}

  /** Lists calls of any kind, newest first. They appear after a second. A caller of one workspace sees only its own. */
  @Get()
  @RequireScope('logs.list')
  async listLogs(
    @CurrentPrincipal() principal: Principal,
    @Query() query: RequestLogListQuery,
  ): Promise<RequestLogListResponse> {
    return toLogList(await this.logs.list(principal, query), toRequestLogResponse);
  }

  /** Returns one call. */
  @Get(':id')
  @RequireScope('logs.read')
  async retrieveLog(@CurrentPrincipal() principal: Principal, @Param('id') id: string): Promise<RequestLogResponse> {
    return toRequestLogResponse(await this.logs.get(principal, id));
  }

  /** Returns what was sent and answered in one call, where its workspace keeps that. The audit log has who read it. */
  @Get(':id/bodies')
  @RequireScope('logs.bodies')
  async retrieveLogBodies(
    @CurrentPrincipal() principal: Principal,
    @Param('id') id: string,
  ): Promise<LoggedBodiesResponse> {
    const { log, bodies } = await this.logs.bodiesOf(principal, id);
    return toLoggedBodiesResponse(log, bodies);
  }
}
