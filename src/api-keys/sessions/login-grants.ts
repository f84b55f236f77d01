import { Injectable } from '@nestjs/common';
import { claimWords, type JsonObject } from '../../common/json/read.js';
import { toStorableOrNull } from '../../common/storable-text.js';
import { AppConfig } from '../../config/environment.js';
import { WorkspacesService } from '../../workspaces/workspaces.service.js';
import { type GroupRole, isSamePlace, type PersonGrant, placesOf, readGroupRoles, scopesAt } from './person-grants.js';

const NAME_CLAIMS = ['email', 'preferred_username', 'name'] as const;
const MAX_NAME = 255;
/** As of administrators' tokens. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** What people may do, by the groups that the identity provider says they are in. */
@Injectable()
export class LoginGrants {
  private readonly roles: readonly GroupRole[];

  constructor(
    private readonly config: AppConfig,
    private readonly workspaces: WorkspacesService,
  ) {
    this.roles = readGroupRoles(config.ADMIN_OIDC_ROLES);
  }

  /**
   * The rights of someone in one place; undefined when no group gives any.
   * @param wanted slugs of that place; absent: the first that exists
   */
  async grantOf(
    claims: JsonObject,
    wanted: { readonly organisation?: string | undefined; readonly workspace?: string | undefined },
  ): Promise<PersonGrant | undefined> {
    const { sub } = claims;
    if (typeof sub !== 'string' || !SUBJECT.test(sub)) return undefined;
    const places = placesOf(this.roles, claimWords(claims[this.config.ADMIN_OIDC_GROUPS_CLAIM]));
    const { organisation, workspace = null } = wanted;
    const choices =
      organisation === undefined ? places : places.filter((one) => isSamePlace(one, { organisation, workspace }));
    for (const place of choices) {
      const tenant = await this.workspaces.tenantOf(place.organisation, place.workspace);
      if (tenant === undefined) continue;
      const person = { name: nameIn(claims), scopes: scopesAt(places, place), places };
      return { subject: sub, ...tenant, person };
    }
    return undefined;
  }
}

function nameIn(claims: JsonObject): string | null {
  const names = NAME_CLAIMS.map((claim) => claims[claim]);
  const found = names.find((name): name is string => typeof name === 'string' && name !== '');
  return toStorableOrNull(found ?? null, MAX_NAME);
}
