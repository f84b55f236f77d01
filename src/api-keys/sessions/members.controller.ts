import { Controller, Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { CurrentPrincipal } from '../../access/current-principal.decorator.js';
import type { Principal } from '../../access/principal.js';
import { RequireScope } from '../../access/route-access.decorators.js';
import { ManagementApi } from '../../common/http/api-docs.decorators.js';
import { SearchPageQuery } from '../../common/pagination/list.query.js';
import { MemberGroupListResponse, MemberListResponse } from './member.response.js';
import { MemberSessionsService } from './member-sessions.service.js';
import { MembersService } from './members.service.js';

@ManagementApi('Members')
@Controller('v1/members')
export class MembersController {
  constructor(
    private readonly members: MembersService,
    private readonly sessions: MemberSessionsService,
  ) {}

  /** Lists the people who are logged in without a key, with their roles, the newest log-in first. */
  @Get()
  @RequireScope('api_keys.list')
  async listMembers(
    @CurrentPrincipal() principal: Principal,
    @Query() query: SearchPageQuery,
  ): Promise<MemberListResponse> {
    return this.members.list(principal, query);
  }

  /** Lists the groups of the identity provider that give their people a role here (setting ADMIN_OIDC_ROLES). */
  @Get('groups')
  @RequireScope('api_keys.list')
  async listMemberGroups(
    @CurrentPrincipal() principal: Principal,
    @Query() query: SearchPageQuery,
  ): Promise<MemberGroupListResponse> {
    return this.members.groups(principal, query);
  }

  /** Logs a person out of every browser here. Their groups may let them in again. */
  @Delete(':member_id/sessions')
  @HttpCode(204)
  @RequireScope('api_keys.delete')
  async endMemberSessions(@CurrentPrincipal() principal: Principal, @Param('member_id') id: string): Promise<void> {
    await this.sessions.endAll(principal, id);
  }
}
