import { Injectable } from '@nestjs/common';
import type { Principal } from '../../access/principal.js';
import { type ListOf, toList, toSkipTake } from '../../common/pagination/list.js';
import type { SearchPageQuery } from '../../common/pagination/list.query.js';
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
  async list(principal: Principal, query: SearchPageQuery): Promise<ListOf<MemberResponse>> {
    const rows = await this.sessions.list(principal);
    const bySubject = new Map<string, Session[]>();
    for (const row of rows) {
      const { subject } = row;
      if (subject !== null) bySubject.set(subject, [...(bySubject.get(subject) ?? []), row]);
    }
    const isShown = await this.placesOf(principal);
    const found = [...bySubject].filter(([id, [newest]]) => contains(query, id, newest?.person?.name));
    const { skip, take } = toSkipTake(query);
    return toList([found.slice(skip, skip + take), found.length], ([id, own]) => toMemberResponse(id, own, isShown));
  }

  /** In the order of ADMIN_OIDC_ROLES. */
  async groups(principal: Principal, query: SearchPageQuery): Promise<ListOf<MemberGroupResponse>> {
    const isShown = await this.placesOf(principal);
    const roles = readGroupRoles(this.config.ADMIN_OIDC_ROLES).filter(isShown);
    const groups = roles.filter(({ group, role }) => contains(query, group, role));
    const { skip, take } = toSkipTake(query);
    return toList([groups.slice(skip, skip + take), groups.length], toMemberGroupResponse);
  }

  /** Places are named by slugs; those of other tenants are not shown. */
  private async placesOf(principal: Principal): Promise<(place: Placed) => boolean> {
    const { organisation, workspace } = await this.workspaces.slugsOf(principal);
    return (place) => place.organisation === organisation && (workspace === undefined || place.workspace === workspace);
  }
}

/** As the lists in the database are searched: a part of one of the texts, in any case. */
function contains({ search }: SearchPageQuery, ...texts: readonly (string | null | undefined)[]): boolean {
  if (search === undefined) return true;
  const wanted = search.toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(wanted));
}
