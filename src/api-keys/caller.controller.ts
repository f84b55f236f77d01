import { Controller, Get, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { AnyCaller } from '../access/route-access.decorators.js';
import { ManagementApi } from '../common/http/api-docs.decorators.js';
import { CallerResponse, OrganisationListResponse } from './caller.response.js';
import { CallerService } from './caller.service.js';
import { CallerQuery } from './dto/caller.query.js';
import { OrganisationListQuery } from './dto/organisation-list.query.js';

@ManagementApi('Caller')
@Controller('v1')
export class CallerController {
  constructor(private readonly callers: CallerService) {}

  /** Returns who calls: the key or the token, its scopes, its organisation, and the workspaces that it acts in. */
  @Get('me')
  @AnyCaller('a caller may know what it is')
  async retrieveCaller(@Req() request: Request, @Query() query: CallerQuery): Promise<CallerResponse> {
    return this.callers.describe(request, query.organisation_id);
  }

  /** Lists the organisations that the caller acts for. */
  @Get('organisations')
  @AnyCaller('a caller may know what it is')
  async listOrganisations(
    @Req() request: Request,
    @Query() query: OrganisationListQuery,
  ): Promise<OrganisationListResponse> {
    return this.callers.organisations(request, query);
  }
}
