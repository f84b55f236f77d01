import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, MoreThan, Not, type Repository } from 'typeorm';
import type { Principal } from '../../access/principal.js';
import { tenantWhere } from '../../access/tenant-where.js';
import { type ListOf, toList, toSkipTake } from '../../common/pagination/list.js';
import type { PageQuery } from '../../common/pagination/page.query.js';
import { Clock } from '../../common/time/clock.js';
import { AppConfig } from '../../config/environment.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import {
  type MemberGroupResponse,
  type MemberResponse,
  toMemberGroupResponse,
  toMemberResponse,
} from './member.response.js';
import { type GroupRole, readGroupRoles } from './person-grants.js';
import { Session } from './session.entity.js';

/** Of an organisation, the newest: more people are not at work at once. */
const MAX_SESSIONS = 5_000;
type Placed = Omit<GroupRole, 'group'>;

/** The people of an organisation, as far as the gateway knows them: those who are logged in, and the groups that give roles. */
@Injectable()
export class MembersService {
  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly workspaces: WorkspacesService,
    private readonly config: AppConfig,
    private readonly clock: Clock,
  ) {}

  /** The newest log-in first. */
  async list(principal: Principal, page: PageQuery): Promise<ListOf<MemberResponse>> {
    const rows = await this.sessions.find({
      where: {
        ...tenantWhere(principal),
        issuer: this.config.ADMIN_OIDC_ISSUER ?? '',
        subject: Not(IsNull()),
        expiresAt: MoreThan(this.clock.now()),
      },
      order: { createdAt: 'DESC', id: 'DESC' },
      take: MAX_SESSIONS,
    });
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
