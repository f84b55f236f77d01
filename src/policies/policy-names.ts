import { Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { foldId, isUuid } from '../common/uuid.js';
import { PROVIDER_SLUGS } from '../upstream/vendors/vendor.types.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { ANY, type Condition } from './conditions.js';
import type { PolicyKey } from './policy-keys.js';

/** What callers name in policies, looked up in their tenant. */
@Injectable()
export class PolicyNames {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly apiKeys: ApiKeysService,
  ) {}

  /**
   * Replaces the names in conditions by those that calls carry: a limit on a name that never occurs would never hold, and
   * nobody would be told.
   * @throws GatewayError `validation_failed`
   */
  async conditions<Given extends Condition>(principal: Principal, conditions: readonly Given[]): Promise<Given[]> {
    const readAll = async (
      key: PolicyKey,
      values: string | readonly string[],
      param: string,
    ): Promise<string | string[]> => {
      const each = (value: string): Promise<string> => this.readName(principal, key, value, param);
      return typeof values === 'string' ? each(values) : Promise.all(values.map(each));
    };
    return Promise.all(
      conditions.map(async (condition, index) => {
        const { key, value, excludes } = condition;
        return {
          ...condition,
          value: await readAll(key, value, `conditions.${index}.value`),
          ...(excludes === undefined ? {} : { excludes: await readAll(key, excludes, `conditions.${index}.excludes`) }),
        };
      }),
    );
  }

  /** @throws GatewayError `not_found` for a workspace that the caller cannot see */
  async workspaceId(principal: Principal, ref: string): Promise<string> {
    return (await this.workspaces.get(principal, ref)).id;
  }

  /** The workspace of a new policy. Without an API key it must be named: the interface has it so. */
  workspaceFor(principal: Principal, ref: string | undefined): Promise<string | null> {
    return principal.kind === 'api_key'
      ? this.workspaces.resolveOrShared(principal, ref)
      : this.workspaces.resolveForCreate(principal, ref);
  }

  private async readName(principal: Principal, key: PolicyKey, name: string, param: string): Promise<string> {
    if (name.endsWith(ANY)) return name;
    switch (key) {
      case 'workspace_id':
        return this.workspaceId(principal, name).catch(refuseUnknown(param, name));
      case 'api_key':
        if (await this.apiKeys.isCaller(principal, name)) return name;
        throw invalidField(param, `has no API key ${JSON.stringify(name)}; it takes ids`);
      case 'organisation_id':
        if (foldId(name) === principal.organisationId) return name;
        throw invalidField(param, "must be the id of the caller's organisation");
      case 'virtual_key':
        if (isUuid(name)) throw invalidField(param, 'must be the slug of a virtual key, not its id');
        return name;
      case 'mcp_server':
        if (isUuid(name)) throw invalidField(param, 'must be the slug of an MCP server, not its id');
        return name;
      case 'provider':
        if (!PROVIDER_SLUGS.some((slug) => slug === name.toLowerCase())) {
          throw invalidField(param, `must be one of ${PROVIDER_SLUGS.join(', ')}`);
        }
        return name;
      default:
        return name;
    }
  }
}

function refuseUnknown(param: string, ref: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof GatewayError) || error.code !== 'not_found') throw error;
    throw invalidField(param, `has no workspace ${JSON.stringify(ref)}`);
  };
}
