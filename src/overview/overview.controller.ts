import { Controller, Get } from '@nestjs/common';
import { CurrentPrincipal } from '../access/current-principal.decorator.js';
import type { Principal } from '../access/principal.js';
import { RequireScope } from '../access/route-access.decorators.js';
import { MayFail } from '../common/errors/may-fail.decorator.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { OverviewResponse } from './overview.response.js';
import { OverviewService } from './overview.service.js';

@ManagementApi('Overview')
@Controller('v1/overview')
export class OverviewController {
  constructor(private readonly overview: OverviewService) {}

  /**
   * Returns what calls have used today, in seven days and in this month (UTC), by what, how long they took, and what needs
   * attention. A caller of one workspace sees only its own, and each caller only what its scopes allow.
   */
  @Get()
  @RequireScope('usage.read')
  @MayFail('report_too_large', 'report_busy')
  retrieveOverview(@CurrentPrincipal() principal: Principal): Promise<OverviewResponse> {
    return this.overview.read(principal);
  }
}
