import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Principal } from '../access/principal.js';
import type { MaybePromise } from '../common/maybe-promise.js';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { requestOf } from '../common/http/execution-context.js';
import { isObject } from '../common/json/read.js';
import { foldId, isUuid } from '../common/uuid.js';
import { contextOf } from '../telemetry/request-context.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import type { AdminToken } from './admin-token.verifier.js';

/**
 * Global guard: settles the tenant that the request acts for. Runs after the body has been read, since administrators may
 * name their organisation there.
 */
@Injectable()
export class TenantGuard implements CanActivate {
  constructor(private readonly workspaces: WorkspacesService) {}

  /** Answers at once for API keys: a promise that nothing needs costs every request. */
  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const { caller, anyCaller } = request;
    if (caller === undefined && anyCaller === undefined) return true;
    const named = namedOrganisation(request);
    const known = caller ?? anyCaller;
    if (named !== undefined && known?.kind === 'api_key' && named !== known.principal.organisationId) throw mismatch();
    if (caller === undefined) return true;
    if (caller.kind === 'api_key') return actAs(caller.principal, request);
    return this.grantedTenant(caller.token, named, request).then((principal) => actAs(principal, request));
  }

  private async grantedTenant(token: AdminToken, named: string | undefined, request: Request): Promise<Principal> {
    const organisationId = named ?? soleGrant(token, request);
    if (!token.organisationIds.includes(organisationId) || !(await this.exists(organisationId))) throw mismatch();
    return {
      kind: 'admin_token',
      id: token.subject,
      ...(token.name !== undefined && { name: token.name }),
      organisationId,
      workspaceId: token.workspaceId ?? null,
      scopes: token.scopes,
      user: null,
      enforcedMetadata: {},
      defaultMetadata: {},
      rateLimits: [],
      expiresAt: null,
    };
  }

  private async exists(organisationId: string): Promise<boolean> {
    return isUuid(organisationId) && (await this.workspaces.organisationExists(organisationId));
  }
}

/**
 * The organisation that a request names, in its body or its query; undefined when it names none as a string. UUIDs are the same
 * in letters of either case, and secrets are sealed for the one that the database knows.
 * @throws GatewayError `validation_failed` for two that differ, and for one that is not a UUID
 */
export function namedOrganisation(request: Request): string | undefined {
  const body: unknown = request.body;
  const givenInBody = isObject(body) ? body['organisation_id'] : undefined;
  const givenInQuery = request.query['organisation_id'];
  const inBody = typeof givenInBody === 'string' ? foldId(givenInBody) : undefined;
  const inQuery = typeof givenInQuery === 'string' ? foldId(givenInQuery) : undefined;
  if (inBody !== undefined && inQuery !== undefined && inBody !== inQuery) {
    throw invalidField('organisation_id', 'must be the same in the body and in the query');
  }
  const named = inBody ?? inQuery;
  if (named !== undefined && !isUuid(named)) throw invalidField('organisation_id', 'must be a UUID');
  return named;
}

/**
 * Reads may leave the organisation out when the token grants only one; what creates something has to name it. A session is for
 * one, which was chosen when it began.
 */
function soleGrant(token: AdminToken, request: Request): string {
  const [only, ...others] = token.organisationIds;
  if (only !== undefined && others.length === 0 && (token.workspaceId !== undefined || !isObject(request.body))) {
    return only;
  }
  throw invalidField('organisation_id', 'is required when the caller does not use an API key');
}

function mismatch(): GatewayError {
  return new GatewayError('tenant_mismatch', { param: 'organisation_id' });
}

function actAs(principal: Principal, request: Request): boolean {
  const context = contextOf(request);
  request.principal = principal;
  request.traceId = context.trace.traceId;
  context.noteCaller(principal);
  return true;
}
