import { toUnixSeconds } from '../../common/time/unix-time.js';
import type { GroupRole } from './person-grants.js';
import type { Session } from './session.entity.js';

export class MemberRoleResponse {
  /** `owner`, `admin`, `member` or `auditor`. */
  readonly role: string;
  /** Slug; null: all workspaces. */
  readonly workspace: string | null;
}

export class MemberResponse {
  readonly object: 'member';
  /** The subject by which the identity provider knows the person. */
  readonly id: string;
  /** Address or name, as the identity provider gave it; null: it gave none. */
  readonly name: string | null;
  /** What the person's groups allow here; empty for a person who logged in with an administrator's token. */
  readonly roles: MemberRoleResponse[];
  /** In how many browsers the person is logged in. */
  readonly sessions: number;
  /** The newest log-in, in Unix seconds. */
  readonly last_login_at: number;
  /** When the last session ends, in Unix seconds: then the groups are read again. */
  readonly expires_at: number;
}

export class MemberListResponse {
  readonly object: 'list';
  readonly data: MemberResponse[];
  readonly total: number;
}

export class MemberGroupResponse extends MemberRoleResponse {
  readonly object: 'member-group';
  /** Name of the group at the identity provider. */
  readonly group: string;
}

export class MemberGroupListResponse {
  readonly object: 'list';
  readonly data: MemberGroupResponse[];
  readonly total: number;
}

/** @param sessions of one person, the newest first */
export function toMemberResponse(
  id: string,
  sessions: readonly Session[],
  isShown: (place: Omit<GroupRole, 'group'>) => boolean,
): MemberResponse {
  const person = sessions[0]?.person;
  const ends = sessions.map(({ expiresAt }) => toUnixSeconds(expiresAt));
  const begins = sessions.map(({ createdAt }) => toUnixSeconds(createdAt));
  return {
    object: 'member',
    id,
    name: person?.name ?? null,
    roles: (person?.places ?? []).filter(isShown).map(({ role, workspace }) => ({ role, workspace })),
    sessions: sessions.length,
    last_login_at: Math.max(...begins),
    expires_at: Math.max(...ends),
  };
}

export function toMemberGroupResponse({ group, role, workspace }: GroupRole): MemberGroupResponse {
  return { object: 'member-group', group, role, workspace };
}
