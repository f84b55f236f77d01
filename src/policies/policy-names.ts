import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, type Repository } from 'typeorm';
import type { Principal, Tenant } from '../access/principal.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { invalidFields } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { isUnchanged, senselessCondition } from './condition-sense.js';
import { type Condition, ownerOf } from './conditions.js';
import { again, type KnownNames, readPattern } from './known-names.js';
import type { PolicyKey } from './policy-keys.js';

/** Looks up the names that callers use in policies, within their tenant. */
@Injectable()
export class PolicyNames {
  constructor(
    private readonly workspaces: WorkspacesService,
    private readonly apiKeys: ApiKeysService,
    @InjectRepository(VirtualKey) private readonly virtualKeys: Repository<VirtualKey>,
    private readonly offered: OfferedEndpoints,
  ) {}

  /**
   * Replaces the names in the conditions of a policy by those that calls carry. A limit on a name that never occurs
   * would silently have no effect.
   * @param tenant the tenant whose calls the policy applies to
   * @param stored the current conditions of the policy; the resources that they name may be deleted
   * @throws GatewayError `validation_failed`
   */
  async conditions<Given extends Condition>(
    tenant: Tenant,
    conditions: readonly Given[],
    stored: readonly Condition[] = [],
  ): Promise<Given[]> {
    const known = await this.known(tenant, conditions);
    const read = (key: PolicyKey, values: string | readonly string[], param: string): string | string[] => {
      const kept = new Set(namesOf(stored, key));
      const each = (name: string): string =>
        kept.has(name) ? again(known, key, name) : readPattern(known, key, name, param);
      return typeof values === 'string' ? each(values) : values.map(each);
    };
    const named = conditions.map((condition, index) => {
      const { key, value, excludes } = condition;
      return {
        ...condition,
        value: read(key, value, `conditions.${index}.value`),
        ...(excludes === undefined ? {} : { excludes: read(key, excludes, `conditions.${index}.excludes`) }),
      };
    });
    // What was read can be written back, whatever this version would refuse.
    if (isUnchanged(named, stored)) return named;
    const { metered } = this.offered;
    const problem = senselessCondition(named, { metered, providersOf: (slug) => known.virtualKeys.get(slug) });
    if (problem !== undefined) throw invalidFields([problem]);
    return named;
  }

  /** Looks up the names in conditions. */
  async known(tenant: Tenant, conditions: readonly Condition[]): Promise<KnownNames> {
    const owners = namesOf(conditions, 'model').flatMap((model) => ownerOf(model) ?? []);
    const [workspaceIdOf, callers, virtualKeys] = await Promise.all([
      this.workspaces.idsOf(tenant, namesOf(conditions, 'workspace_id')),
      this.apiKeys.callersAmong(tenant, namesOf(conditions, 'api_key')),
      this.providersOfKeys(tenant, [...namesOf(conditions, 'virtual_key'), ...owners]),
    ]);
    const { endpoints } = this.offered;
    return { organisationId: tenant.organisationId, workspaceIdOf, callers, virtualKeys, endpoints };
  }

  /** By slug. A slug may be that of several virtual keys, each of a workspace. */
  private async providersOfKeys(
    { organisationId, workspaceId }: Tenant,
    slugs: readonly string[],
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    if (slugs.length === 0) return new Map();
    const owner = workspaceId === null ? [{}] : [{ workspaceId }, { workspaceId: IsNull() }];
    const where = owner.map((own) => ({ organisationId, slug: In([...slugs]), ...own }));
    const rows = await this.virtualKeys.find({ select: { id: true, slug: true, provider: true }, where });
    const found = new Map<string, string[]>();
    for (const { slug, provider } of rows) found.set(slug, [...(found.get(slug) ?? []), provider]);
    return found;
  }

  /** @throws GatewayError `not_found` for a workspace that the caller cannot see */
  async workspaceId(principal: Principal, ref: string): Promise<string> {
    return (await this.workspaces.get(principal, ref)).id;
  }

  fixedFieldsOf(principal: Principal, dto: object): Promise<JsonObject> {
    return this.workspaces.fixedFieldsOf(principal, dto);
  }

  /** The workspace of a new policy. Without an API key it must be named, as the API specifies. */
  workspaceFor(principal: Principal, ref: string | null | undefined): Promise<string | null> {
    return principal.kind === 'api_key'
      ? this.workspaces.resolveOrShared(principal, ref)
      : this.workspaces.resolveForCreate(principal, ref);
  }
}

/** All values that conditions name for a key, excluded ones included. */
function namesOf(conditions: readonly Condition[], key: PolicyKey): string[] {
  return conditions.flatMap((condition) =>
    condition.key === key ? [condition.value, condition.excludes ?? []].flat(2) : [],
  );
}
