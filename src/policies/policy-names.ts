import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, IsNull, type Repository } from 'typeorm';
import type { Principal, Tenant } from '../access/principal.js';
import { ApiKeysService } from '../api-keys/api-keys.service.js';
import { invalidField, invalidFields } from '../common/errors/gateway.error.js';
import type { JsonObject } from '../common/json/read.js';
import { foldId, isUuid } from '../common/uuid.js';
import { OfferedEndpoints } from '../upstream/providers/offered-endpoints.js';
import { PROVIDER_SLUGS } from '../upstream/providers/provider.types.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { isUnchanged, senselessCondition } from './condition-sense.js';
import { ANY, type Condition } from './conditions.js';
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
    const [workspaceIdOf, callers, virtualKeys] = await Promise.all([
      this.workspaces.idsOf(tenant, namesOf(conditions, 'workspace_id')),
      this.apiKeys.callersAmong(tenant, namesOf(conditions, 'api_key')),
      this.providersOfKeys(tenant, namesOf(conditions, 'virtual_key')),
    ]);
    const { endpoints, metered } = this.offered;
    const known: KnownNames = {
      organisationId: tenant.organisationId,
      workspaceIdOf,
      callers,
      virtualKeys,
      endpoints,
    };
    const read = (key: PolicyKey, values: string | readonly string[], param: string): string | string[] => {
      const kept = new Set(namesOf(stored, key));
      const each = (name: string): string =>
        kept.has(name) ? again(known, key, name) : readName(known, key, name, param);
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
    const problem = senselessCondition(named, { metered, providersOf: (slug) => virtualKeys.get(slug) });
    if (problem !== undefined) throw invalidFields([problem]);
    return named;
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

interface KnownNames {
  readonly organisationId: string;
  readonly workspaceIdOf: (ref: string) => string | undefined;
  readonly callers: ReadonlySet<string>;
  readonly virtualKeys: ReadonlyMap<string, unknown>;
  readonly endpoints: readonly string[];
}

/** All values that conditions name for a key, excluded ones included. */
function namesOf(conditions: readonly Condition[], key: PolicyKey): string[] {
  return conditions.flatMap((condition) =>
    condition.key === key ? [condition.value, condition.excludes ?? []].flat(2) : [],
  );
}

/** A name that the policy already has. Earlier versions stored slugs of workspaces without a look-up. */
function again({ workspaceIdOf }: KnownNames, key: PolicyKey, name: string): string {
  return key === 'workspace_id' ? (workspaceIdOf(name) ?? name) : name;
}

/** Patterns of these have to match something that exists. Calls carry the id of a workspace, so none matches its slug. */
const CHECKED_PATTERNS: readonly PolicyKey[] = ['workspace_id', 'provider', 'endpoint'];

function readName(known: KnownNames, key: PolicyKey, name: string, param: string): string {
  if (name === ANY || (name.endsWith(ANY) && !CHECKED_PATTERNS.includes(key))) return name;
  switch (key) {
    case 'workspace_id': {
      const id = known.workspaceIdOf(name);
      if (id !== undefined) return id;
      throw invalidField(param, `has no workspace ${JSON.stringify(name)}`);
    }
    case 'api_key':
      if (known.callers.has(foldId(name))) return name;
      throw invalidField(param, `has no API key ${JSON.stringify(name)}; it takes ids`);
    case 'organisation_id':
      if (foldId(name) === known.organisationId) return name;
      throw invalidField(param, "must be the id of the caller's organisation");
    case 'virtual_key':
      if (isUuid(name)) throw invalidField(param, 'must be the slug of a virtual key, not its id');
      if (known.virtualKeys.has(name)) return name;
      throw invalidField(param, `has no virtual key ${JSON.stringify(name)}`);
    case 'endpoint':
      if (known.endpoints.some((endpoint) => isMeantBy(endpoint, name.toLowerCase()))) return name;
      throw invalidField(param, `must be one of ${known.endpoints.join(', ')}`);
    case 'mcp_server':
      if (isUuid(name)) throw invalidField(param, 'must be the slug of an MCP server, not its id');
      return name;
    case 'provider':
      if (!PROVIDER_SLUGS.some((slug) => isMeantBy(slug, name.toLowerCase()))) {
        throw invalidField(param, `must be one of ${PROVIDER_SLUGS.join(', ')}`);
      }
      return name;
    default:
      return name;
  }
}

/** Whether a name, or a prefix followed by `*`, matches the provider or endpoint. */
function isMeantBy(slug: string, name: string): boolean {
  return name.endsWith(ANY) ? slug.startsWith(name.slice(0, -1)) : slug === name;
}
