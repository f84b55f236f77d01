import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Tenant } from '../access/principal.js';
import { GatewayError } from '../common/errors/gateway.error.js';
import { toList } from '../common/pagination/list.js';
import { toUnixSeconds } from '../common/time/unix-time.js';
import { foldId } from '../common/uuid.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { OrganisationListQuery } from './dto/organisation-list.query.js';
import { shownLimits } from './rate-limit-counters.js';
import { callerOf } from './authentication.guard.js';
import type { Caller } from './authenticator.js';
import { type CallerResponse, type OrganisationListResponse, toOrganisationResponse } from './caller.response.js';

const MAX_WORKSPACES = 100;

/** Says who calls. */
@Injectable()
export class CallerService {
  constructor(private readonly workspaces: WorkspacesService) {}

  /** @throws GatewayError `tenant_mismatch` for an organisation that is not the caller's */
  async describe(request: Request, named: string | undefined): Promise<CallerResponse> {
    const caller = callerOf(request);
    const ids = organisationsOf(caller, named);
    const [[organisation = null], count] = await this.workspaces.organisations(ids, new OrganisationListQuery());
    const sole = count === 1 ? organisation : null;
    const { workspaceId = null } = caller.kind === 'api_key' ? caller.principal : caller.token;
    const tenant: Tenant | undefined = sole === null ? undefined : { organisationId: sole.id, workspaceId };
    const workspaces = tenant === undefined ? [] : await this.workspaces.visibleTo(tenant, MAX_WORKSPACES);
    return {
      object: 'caller',
      type: caller.kind,
      ...factsOf(caller),
      scopes: [...caller.scopes],
      organisation: sole && toOrganisationResponse(sole),
      workspace_id: workspaceId,
      workspaces: workspaces.map(({ id, slug, name }) => ({ id, slug, name })),
    };
  }

  /** @throws GatewayError `tenant_mismatch` for an organisation that is not the caller's */
  async organisations(request: Request, query: OrganisationListQuery): Promise<OrganisationListResponse> {
    const ids = organisationsOf(callerOf(request), query.organisation_id);
    return toList(await this.workspaces.organisations(ids, query), toOrganisationResponse);
  }
}

/** The ids of the caller's organisations, or the one that it names. */
function organisationsOf(caller: Caller, named: string | undefined): readonly string[] {
  const own = caller.kind === 'api_key' ? [caller.principal.organisationId] : caller.token.organisationIds;
  if (named === undefined) return own;
  if (own.includes(foldId(named))) return [foldId(named)];
  throw new GatewayError('tenant_mismatch', { param: 'organisation_id' });
}

function factsOf(
  caller: Caller,
): Omit<CallerResponse, 'object' | 'type' | 'scopes' | 'organisation' | 'workspace_id' | 'workspaces'> {
  if (caller.kind === 'admin_token') return { ...NO_BOUNDS, id: caller.token.subject, name: caller.token.name ?? null };
  const {
    id,
    name = null,
    user,
    enforcedMetadata,
    rateLimits,
    mcpGrants,
    providerAccess,
    expiresAt,
  } = caller.principal;
  return {
    id,
    name,
    user,
    metadata: enforcedMetadata,
    rate_limits: shownLimits(rateLimits),
    allowed_mcp_servers: mcpGrants?.servers?.slice() ?? null,
    allowed_mcp_tools: mcpGrants?.tools?.slice() ?? null,
    allowed_models: providerAccess?.allowedModels?.slice() ?? null,
    allowed_virtual_keys: providerAccess?.allowedVirtualKeys?.slice() ?? null,
    default_virtual_key: providerAccess?.defaultVirtualKeyId ?? null,
    expires_at: toUnixSeconds(expiresAt),
  };
}

const NO_BOUNDS = {
  name: null,
  user: null,
  metadata: {},
  rate_limits: [],
  allowed_mcp_servers: null,
  allowed_mcp_tools: null,
  allowed_models: null,
  allowed_virtual_keys: null,
  default_virtual_key: null,
  expires_at: null,
};
