import { Inject, Injectable } from '@nestjs/common';
import type { Principal } from '../access/principal.js';
import type { AuditRecord } from '../audit/audit-record.js';
import { AuditService } from '../audit/audit.service.js';
import { GatewayError, invalidField } from '../common/errors/gateway.error.js';
import { type ListOf, toList, toSkipTake } from '../common/pagination/list.js';
import { Clock } from '../common/time/clock.js';
import { isUuid } from '../common/uuid.js';
import type { UsageBucket } from '../usage/usage-bucket.entity.js';
import { type SearchedNames, UsageBucketStore } from '../usage/usage-bucket.store.js';
import { USAGE_STORE } from '../usage/usage-store.token.js';
import type { UsageStore } from '../usage/usage-store.types.js';
import { windowAt } from '../usage/windows.js';
import { entryOf } from './audit-entry.js';
import { readPolicy } from './compiled-policies.js';
import type { UsageEntitiesQuery } from './dto/usage-entities.query.js';
import { fromUnits } from './limits.js';
import { PolicyStore } from './policy.store.js';
import { toUsageEntityResponse, type UsageEntityResponse } from './usage-limit.response.js';
import type { UsagePolicy } from './usage-policy.entity.js';

const MOST_USED = { current_page: 0, page_size: 100 } as const;
const FULLEST = { current_page: 0, page_size: 1 } as const;

/** Reads and resets the usage of the groups of a policy. */
@Injectable()
export class UsageEntitiesService {
  constructor(
    private readonly policies: PolicyStore,
    private readonly buckets: UsageBucketStore,
    @Inject(USAGE_STORE) private readonly usage: UsageStore,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /** The usage of the current period. */
  async list(principal: Principal, policyId: string, query: UsageEntitiesQuery): Promise<ListOf<UsageEntityResponse>> {
    return this.listOf(await this.policies.get(principal, policyId), query, namesFor(principal));
  }

  async mostUsed(policy: UsagePolicy): Promise<UsageEntityResponse[]> {
    const { data } = await this.listOf(policy, MOST_USED);
    return data;
  }

  /** The group with the highest usage; undefined for a policy that cannot be read. */
  async fullest(policy: UsagePolicy): Promise<UsageEntityResponse[] | undefined> {
    try {
      const { data } = await this.listOf(policy, FULLEST);
      return data;
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'usage_limit_unreadable') return undefined;
      throw error;
    }
  }

  /**
   * Resets the usage of one group to zero. Calls in flight stay reserved.
   * @throws GatewayError `not_found`
   */
  async reset(principal: Principal, policyId: string, entityId: string): Promise<void> {
    const policy = await this.policies.get(principal, policyId);
    const where = { organisationId: policy.organisationId, policyId: policy.id, id: entityId };
    const bucket = isUuid(entityId) ? await this.buckets.find(where) : null;
    await this.resetBucket(principal, policy, bucket);
  }

  /**
   * The same for the group with this value key in the current period.
   * @throws GatewayError `validation_failed` when there is none
   */
  async resetValue(principal: Principal, ref: string, valueKey: string): Promise<void> {
    const policy = await this.policies.get(principal, ref);
    const { organisationId, id: policyId } = policy;
    const { id: windowId } = windowAt(policy.periodicReset, this.clock.now());
    const bucket = await this.buckets.find({ organisationId, policyId, windowId, valueKey });
    if (bucket === null) throw invalidField('reset_usage_for_value', 'must be the value_key of a group with usage');
    await this.resetBucket(principal, policy, bucket);
  }

  /**
   * Deletes one group: it starts from nothing with its next call, and makes room for another group.
   * @throws GatewayError `not_found`; `conflict` while calls of the group are in flight
   */
  async delete(principal: Principal, ref: string, entityId: string): Promise<void> {
    const policy = await this.policies.get(principal, ref);
    const { organisationId, id: policyId } = policy;
    const bucket = isUuid(entityId) ? await this.buckets.find({ organisationId, policyId, id: entityId }) : null;
    if (bucket === null) throw new GatewayError('not_found');
    await this.policies.rows.manager.transaction(async (manager) => {
      const result = await this.usage.deleteBucket(bucket, organisationId, manager);
      if (result === 'missing') throw new GatewayError('not_found');
      if (result === 'in_use')
        throw new GatewayError('conflict', {
          message: 'Calls of this group are in flight. Try again when they have ended.',
        });
      await this.audit.record(manager, principal, entityEntry('delete_entity', policy, bucket));
    });
  }

  private async resetBucket(principal: Principal, policy: UsagePolicy, bucket: UsageBucket | null): Promise<void> {
    const { organisationId } = policy;
    const adjustment = { organisationId, actorId: principal.id, reason: 'reset by hand', at: this.clock.now() };
    if (bucket === null) throw new GatewayError('not_found');
    await this.policies.rows.manager.transaction(async (manager) => {
      if (!(await this.usage.reset(bucket, adjustment, manager))) throw new GatewayError('not_found');
      await this.audit.record(manager, principal, entityEntry('reset', policy, bucket));
    });
  }

  private async listOf(
    policy: UsagePolicy,
    query: Pick<UsageEntitiesQuery, 'status' | 'search' | 'current_page' | 'page_size'>,
    names?: SearchedNames,
  ): Promise<ListOf<UsageEntityResponse>> {
    const { limit } = readPolicy(policy);
    const window = windowAt(policy.periodicReset, this.clock.now());
    const found = await this.buckets.list(
      { organisationId: policy.organisationId, policyId: policy.id, windowId: window.id },
      { limit, status: query.status, search: query.search, ...(names && { names }), ...toSkipTake(query) },
    );
    return toList(found, (bucket) => toUsageEntityResponse(bucket, limit));
  }
}

/** A search finds what the caller could look up itself. */
function namesFor({ workspaceId, scopes }: Principal): SearchedNames {
  const keys = scopes.has('api_keys.list') ? (['api_key'] as const) : [];
  const workspaces = scopes.has('workspaces.list') ? (['workspace_id'] as const) : [];
  return { workspaceId, of: [...keys, ...workspaces] };
}

/** With the group by its value key: its id says nothing once it is deleted. */
function entityEntry(verb: 'delete_entity' | 'reset', policy: UsagePolicy, bucket: UsageBucket): AuditRecord {
  const usageOf = (used: bigint): object => ({ entities: { [bucket.valueKey]: fromUnits(bucket.unit, used) } });
  const after = verb === 'reset' ? usageOf(0n) : {};
  return entryOf(verb, policy, [`entities.${bucket.id}`], { before: usageOf(BigInt(bucket.used)), after });
}
