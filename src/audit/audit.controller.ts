import { Controller, Get, Query, Res } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { AuditLogListResponse } from './audit.response.js';
import { AuditLogFilter, AuditLogQuery } from './audit-log.query.js';
import { sendLines } from '../common/http/send-lines.js';
import { AuditService } from './audit.service.js';

@ManagementApi('Audit log')
@Controller('v1/audit-logs')
export class AuditController {
  constructor(private readonly audit: AuditService) {}

  /** Lists who changed what, newest first. */
  @Get()
  @RequireScope('audit_logs.list')
  listAuditLogs(
    @CurrentPrincipal() principal: Principal,
    @Query() query: AuditLogQuery,
  ): Promise<AuditLogListResponse> {
    return this.audit.list(principal, query);
  }

  /** Exports who changed what, oldest first: one JSON object per line (NDJSON), without pages. */
  @Get('export')
  @RequireScope('audit_logs.list')
  @ApiOkResponse({
    description: 'One entry per line.',
    content: { 'application/x-ndjson': { schema: { type: 'string' } } },
  })
  async exportAuditLogs(
    @CurrentPrincipal() principal: Principal,
    @Query() filter: AuditLogFilter,
    @Res() response: Response,
  ): Promise<void> {
    await sendLines(response, this.audit.pages(principal, filter));
  }
}
