import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsNumber, IsString, IsUUID, Length, Max, MaxLength, Min } from 'class-validator';
import type { UsageUnit } from '../../common/money/units.js';
import { ListOf } from '../../common/validation/bounded-fields.js';
import { ReadOnlyFields } from '../../common/validation/fixed-fields.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { IsSlug } from '../../common/validation/slug.decorators.js';
import { Optional, OptionalOrNull } from '../../common/validation/optional.decorator.js';
import type { PolicyKey } from '../policy-keys.js';
import {
  ENFORCEMENTS,
  type Enforcement,
  PERIODIC_RESETS,
  type PeriodicReset,
  UNBOUNDED_CALLS,
  type UnboundedCalls,
} from '../usage-policy.entity.js';
import { IsConditionValue } from './is-condition-value.decorator.js';
import { IsPolicyKey } from './is-policy-key.decorator.js';

const MAX_CONDITIONS = 20;
const MAX_GROUPS = 5;
/** In dollars or tokens: far above any budget, and exact as a JSON number. */
export const MAX_AMOUNT = 1e15;

export class ConditionDto {
  /**
   * The compared key: `workspace_id`, `api_key`, `model`, `metadata.team` and so on.
   * @example "workspace_id"
   */
  @ApiProperty({ type: 'string' })
  @IsPolicyKey()
  readonly key: PolicyKey;

  /**
   * One value, or several of which one must match. `*` matches any value; at the end of a value, it matches any rest.
   */
  @ApiProperty({ oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }], example: '*' })
  @IsConditionValue()
  readonly value: string | string[];

  /** Values that never match, whatever `value` says. */
  @ApiPropertyOptional({ oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] })
  @Optional()
  @IsConditionValue()
  readonly excludes?: string | string[];
}

export class GroupDto {
  /**
   * The key to group calls by: `api_key`, `metadata.user` and so on.
   * @example "api_key"
   */
  @ApiProperty({ type: 'string' })
  @IsPolicyKey()
  readonly key: PolicyKey;
}

/** The fields with the same rules in a create and in an update. */
class UsageLimitFieldsDto {
  /** @example "Search, per user" */
  @OptionalOrNull()
  @IsString()
  @MaxLength(255)
  @IsStorable()
  readonly name?: string | null;

  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  /** In the unit of `credit_limit`, and below it. A webhook reports when usage reaches it. */
  @OptionalOrNull()
  @IsNumber()
  @Min(0)
  @Max(MAX_AMOUNT)
  readonly alert_threshold?: number | null;

  /** At 00:00 UTC on the first of the month, or on Monday. Without it, usage is never reset. */
  @OptionalOrNull()
  @IsIn(PERIODIC_RESETS)
  readonly periodic_reset?: PeriodicReset | null;

  /** Instead of `periodic_reset`: the number of days between two resets, each at 00:00 UTC, counted from the day on which it was set. */
  @OptionalOrNull()
  @IsInt()
  @Min(1)
  @Max(365)
  readonly periodic_reset_days?: number | null;

  /** `monitor` counts and reports, and refuses nothing. */
  @Optional()
  @IsIn(ENFORCEMENTS)
  readonly enforcement?: Enforcement;

  /**
   * Calls whose usage has no bound before they are made, such as those without an output cap: `refuse` (412
   * `usage_not_bounded`), or `allow`, with which such a call may exceed the limit.
   */
  @Optional()
  @IsIn(UNBOUNDED_CALLS)
  readonly unbounded?: UnboundedCalls;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

export class CreateUsageLimitDto extends UsageLimitFieldsDto {
  /**
   * The policy applies to calls that meet all conditions.
   * @example [{ "key": "virtual_key", "value": "*" }]
   */
  @ListOf(() => ConditionDto, { min: 1, max: MAX_CONDITIONS })
  readonly conditions: ConditionDto[];

  /**
   * Each combination of their values has a limit of its own.
   * @example [{ "key": "api_key" }]
   */
  @ListOf(() => GroupDto, { min: 1, max: MAX_GROUPS })
  readonly group_by: GroupDto[];

  /**
   * The counted unit: US dollars or tokens.
   * @example "cost"
   */
  @IsIn(['cost', 'tokens'])
  readonly type: UsageUnit;

  /**
   * US dollars with up to 9 decimals, or whole tokens.
   * @example 100
   */
  @IsNumber()
  @Min(0)
  @Max(MAX_AMOUNT)
  readonly credit_limit: number;

  /** Made from the name when omitted. */
  @Optional()
  @IsSlug()
  readonly slug?: string;

  /**
   * Id or slug. Without it, an API key of the whole organisation makes a policy for all its workspaces; required with an
   * administrator's token.
   */
  @OptionalOrNull()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly workspace_id?: string | null;
}

/** `type` and `group_by` cannot change, since existing counts would change their meaning. */
@ReadOnlyFields(['slug', 'workspace_id', 'type', 'group_by', 'status'], ['next_reset_at', 'usage'])
export class UpdateUsageLimitDto extends UsageLimitFieldsDto {
  /** Replaces all conditions. */
  @Optional()
  @ListOf(() => ConditionDto, { min: 1, max: MAX_CONDITIONS })
  readonly conditions?: ConditionDto[];

  /** Sets the usage of the group with this value key (`GET …/entities`) back to zero. */
  @Optional()
  @IsString()
  @Length(1, 2048)
  @IsStorable()
  readonly reset_usage_for_value?: string;

  /** Takes effect immediately, also for the usage of the current period. */
  @Optional()
  @IsNumber()
  @Min(0)
  @Max(MAX_AMOUNT)
  readonly credit_limit?: number;
}
