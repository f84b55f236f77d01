import { IsIn } from 'class-validator';
import type { UsageUnit } from '../../common/money/units.js';
import { IsSort, IsTextFilter, ListQuery } from '../../common/pagination/list.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { ENFORCEMENTS, type Enforcement, POLICY_STATUSES, type PolicyStatus } from '../usage-policy.entity.js';

export class UsageLimitListQuery extends ListQuery {
  /** Only usage limits with this status. */
  @Optional()
  @IsIn(POLICY_STATUSES)
  readonly status: PolicyStatus = 'active';

  /** Only usage limits that count this unit. */
  @Optional()
  @IsIn(['cost', 'tokens'])
  readonly type?: UsageUnit;

  /** Only usage limits of this workspace, by id or slug. */
  @IsTextFilter()
  readonly workspace_id?: string;

  /** Only usage limits that refuse calls, or only those that count them. */
  @Optional()
  @IsIn(ENFORCEMENTS)
  readonly enforcement?: Enforcement;

  /** `true`: includes the group with the highest usage of each. */
  @Optional()
  @IsIn(['true', 'false'])
  readonly include_usage: 'true' | 'false' = 'false';

  @IsSort('name', 'slug', 'credit_limit')
  override readonly sort: string = '-created_at';
}
