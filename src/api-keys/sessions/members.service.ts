import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { type ListOf, toList, toSkipTake } from '../../common/pagination/list.js';
import type { PageQuery } from '../../common/pagination/page.query.js';
import { AppConfig } from '../../config/environment.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import { MemberSessionsService } from './member-sessions.service.js';
import {
  type MemberGroupResponse,
  type MemberResponse,
  toMemberGroupResponse,
  toMemberResponse,
} from './member.response.js';
import { type GroupRole, readGroupRoles } from './person-grants.js';
import type { Session } from './session.entity.js';

type Placed = Omit<GroupRole, 'group'>;

/** The people of an organisation, as far as the gateway knows them: those who are logged in, and the groups that give roles. */
@Injectable()
export class MembersService {
  constructor(
    private readonly sessions: MemberSessionsService,
    private readonly workspaces: WorkspacesService,
    private readonly config: AppConfig,
  ) {}

  /** The newest log-in first. */
  async list(principal: Principal, page: PageQuery): Promise<ListOf<MemberResponse>> {
    const rows = await this.sessions.list(principal);
    const bySubject = new Map<string, Session[]>();
    for (const row of rows) {
      const { subject } = row;
      if (subject !== null) bySubject.set(subject, [...(bySubject.get(subject) ?? []), row]);
    }
    const { skip, take } = toSkipTake(page);
    const isShown = await this.placesOf(principal);
    const shown = [...bySubject].slice(skip, skip + take);
    return toList([shown, bySubject.size], ([id, own]) => toMemberResponse(id, own, isShown));
  }

  /** In the order of ADMIN_OIDC_ROLES. */
  async groups(principal: Principal, page: PageQuery): Promise<ListOf<MemberGroupResponse>> {
    const isShown = await this.placesOf(principal);
    const groups = readGroupRoles(this.config.ADMIN_OIDC_ROLES).filter(isShown);
    const { skip, take } = toSkipTake(page);
    return toList([groups.slice(skip, skip + take), groups.length], toMemberGroupResponse);
  }

  /** Places are named by slugs; those of other tenants are not shown. */
  private async placesOf(principal: Principal): Promise<(place: Placed) => boolean> {
    const { organisation, workspace } = await this.workspaces.slugsOf(principal);
    return (place) => place.organisation === organisation && (workspace === undefined || place.workspace === workspace);
  }
}
