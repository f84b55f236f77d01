import { ApiProperty } from '@nestjs/swagger';
import { toUnixSeconds } from '../common/time/unix-time.js';
import type { UsageBucket } from '../usage/usage-bucket.entity.js';
import { windowAt } from '../usage/windows.js';
import { readableConditions } from './conditions.js';
import { ConditionDto, GroupDto } from './dto/usage-limit.dto.js';
import { fromUnits } from './limits.js';
import { isKnownPeriod, shownPeriod } from './periods.js';
import type { UsagePolicy } from './usage-policy.entity.js';

export class CreatedUsageLimitResponse {
  readonly id: string;
  readonly object: 'policy_usage_limits';
}

/** The usage of one group of calls in the current period. */
export class UsageEntityResponse {
  readonly id: string;
  readonly object: 'usage-entity';
  /**
   * The group: its keys and values.
   * @example "api_key:1f0c…|metadata.user:alice"
   */
  readonly value_key: string;
  /** The usage of the group in this period, in the policy's unit. */
  @ApiProperty({ format: 'double' })
  readonly current_usage: number;
  /** The expected usage of calls in flight. */
  @ApiProperty({ format: 'double' })
  readonly reserved: number;
  /** The most that the group may use in a period. */
  @ApiProperty({ format: 'double' })
  readonly credit_limit: number;
  /** `exhausted`: the limit is reached, or a call was refused since it did not fit into the rest. */
  readonly status: 'active' | 'exhausted';
  /** Unix seconds; null: never. */
  readonly next_reset_at: number | null;
  /** Unix seconds of the last reset by hand; null: none in this period. */
  readonly last_reset_at: number | null;
}

export class UsageEntityListResponse {
  readonly object: 'list';
  readonly data: UsageEntityResponse[];
  readonly total: number;
}

export class UsageLimitResponse {
  readonly id: string;
  readonly slug: string;
  readonly object: 'policy_usage_limits';
  readonly organisation_id: string;
  /** null: for every workspace of the organisation. */
  readonly workspace_id: string | null;
  readonly name: string | null;
  readonly description: string | null;
  /** The calls that the policy applies to: those that meet all conditions. */
  readonly conditions: ConditionDto[];
  /** Each combination of values has its own limit. */
  readonly group_by: GroupDto[];
  /** The unit of the policy: US dollars or tokens. */
  readonly type: 'cost' | 'tokens';
  /** The most that a group may use in a period. */
  @ApiProperty({ format: 'double' })
  readonly credit_limit: number;
  /** The usage that triggers a webhook; null: no alert. */
  @ApiProperty({ format: 'double' })
  readonly alert_threshold: number | null;
  /** When usage starts again at zero; null: never, or after a number of days. */
  readonly periodic_reset: 'monthly' | 'weekly' | null;
  /** After how many days usage starts again at zero; null: never, or by `periodic_reset`. */
  readonly periodic_reset_days: number | null;
  /** `strict` refuses calls over the limit; `monitor` only counts them. */
  readonly enforcement: 'strict' | 'monitor';
  /** What becomes of calls whose usage has no bound before they are made. */
  readonly unbounded: 'refuse' | 'allow';
  /** `archived` policies are no longer in force. */
  readonly status: 'active' | 'archived';
  /** Unix seconds; null: usage is never reset. */
  readonly next_reset_at: number | null;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
  /** With `include_usage`: the groups with the highest usage in the current period, at most a hundred; in a list, one. */
  readonly usage?: UsageEntityResponse[];
}

export class UsageLimitListResponse {
  readonly object: 'list';
  readonly data: UsageLimitResponse[];
  readonly total: number;
}

/** Also shows a policy that cannot be read, without its unknown parts, so that it can be found and corrected. */
export function toUsageLimitResponse(
  policy: UsagePolicy,
  now: Date,
  usage?: UsageEntityResponse[],
): UsageLimitResponse {
  return {
    id: policy.id,
    slug: policy.slug,
    object: 'policy_usage_limits',
    organisation_id: policy.organisationId,
    workspace_id: policy.workspaceId,
    name: policy.name,
    description: policy.description,
    conditions: readableConditions(policy.conditions).map((condition) => ({
      ...condition,
      value: copyOf(condition.value),
      excludes: condition.excludes === undefined ? undefined : copyOf(condition.excludes),
    })),
    group_by: policy.groupBy.map((key) => ({ key })),
    type: policy.type,
    credit_limit: Number(policy.creditLimit),
    alert_threshold: policy.alertThreshold === null ? null : Number(policy.alertThreshold),
    ...shownPeriod(policy.periodicReset),
    enforcement: policy.enforcement,
    unbounded: policy.unbounded,
    status: policy.status,
    next_reset_at: nextResetAt(policy, now),
    created_at: toUnixSeconds(policy.createdAt),
    updated_at: toUnixSeconds(policy.updatedAt),
    ...(usage === undefined ? {} : { usage }),
  };
}

export function toUsageEntityResponse(bucket: UsageBucket, limit: bigint): UsageEntityResponse {
  const used = BigInt(bucket.used);
  // The mark applies to the limit at which it was set, and to lower limits.
  const isMarked = bucket.exhaustedAt !== null && limit <= BigInt(bucket.creditLimit);
  return {
    id: bucket.id,
    object: 'usage-entity',
    value_key: bucket.valueKey,
    current_usage: fromUnits(bucket.unit, used),
    reserved: fromUnits(bucket.unit, BigInt(bucket.reserved)),
    credit_limit: fromUnits(bucket.unit, limit),
    status: used >= limit || isMarked ? 'exhausted' : 'active',
    next_reset_at: toUnixSeconds(bucket.resetsAt),
    last_reset_at: toUnixSeconds(bucket.resetAt),
  };
}

function nextResetAt({ periodicReset }: UsagePolicy, now: Date): number | null {
  if (!isKnownPeriod(periodicReset)) return null;
  return toUnixSeconds(windowAt(periodicReset, now).resetsAt ?? null);
}

function copyOf(value: string | readonly string[]): string | string[] {
  return typeof value === 'string' ? value : [...value];
}
