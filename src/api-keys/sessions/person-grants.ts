import { type Role, ROLES, scopesOf } from '../../access/roles.js';
import type { Person, Place } from './session.entity.js';

/** A place and the group that may go there. */
export interface GroupRole extends Place {
  readonly group: string;
}

/** What a person who logs in gets. */
export interface PersonGrant {
  readonly subject: string;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  readonly person: Person;
}

const GROUP_ROLE = /^(.+)=(\w+)@([\w-]+)(?:\/([\w-]+))?$/;

/** Reads ADMIN_OIDC_ROLES, whose form was checked at the start. */
export function readGroupRoles(setting: readonly string[]): readonly GroupRole[] {
  return setting.flatMap((text) => {
    const [, group, word, organisation, workspace = null] = GROUP_ROLE.exec(text) ?? [];
    const role = ROLES.find((each) => each === word);
    return group === undefined || organisation === undefined || role === undefined
      ? []
      : [{ group, role, organisation, workspace }];
  });
}

/** Where someone of these groups may go, in the order of the setting. */
export function placesOf(roles: readonly GroupRole[], groups: readonly string[]): readonly Place[] {
  return roles
    .filter(({ group }) => groups.includes(group))
    .map(({ organisation, workspace, role }) => ({ organisation, workspace, role }));
}

/** The scopes of all roles that someone has in one place. */
export function scopesAt(places: readonly Place[], place: Place): string[] {
  const roles = places.filter((other) => isSamePlace(other, place)).map(({ role }): Role => role);
  return [...new Set(roles.flatMap(scopesOf))];
}

export function isSamePlace(one: Omit<Place, 'role'>, other: Omit<Place, 'role'>): boolean {
  return one.organisation === other.organisation && one.workspace === other.workspace;
}
