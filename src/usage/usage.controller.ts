import { Controller, Get, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { MayFail } from '../common/errors/may-fail.decorator.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { UsageReportQuery } from './dto/usage-report.query.js';
import { UsageReport } from './usage-report.js';
import { UsageReportResponse } from './usage-report.response.js';

@ManagementApi('Usage')
@Controller('v1/usage')
export class UsageController {
  constructor(private readonly report: UsageReport) {}

  /** Reports what calls have used, by period and by group. A caller of one workspace sees only its own. */
  @Get()
  @RequireScope('usage.read')
  @MayFail('report_too_large', 'report_busy')
  retrieveUsageReport(
    @CurrentPrincipal() principal: Principal,
    @Query() query: UsageReportQuery,
  ): Promise<UsageReportResponse> {
    return this.report.read(principal, query);
  }
}
