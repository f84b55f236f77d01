import { Controller, Get, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { AuditLogListResponse } from './audit.response.js';
import { AuditLogQuery } from './audit-log.query.js';
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
}
