import { IsIn, IsString, Length } from 'class-validator';
import type { UsageUnit } from '../../common/money/units.js';
import { PageQuery } from '../../common/pagination/page.query.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { POLICY_STATUSES, type PolicyStatus } from '../usage-policy.entity.js';

export class UsageLimitListQuery extends PageQuery {
  /** Only usage limits with this status. */
  @Optional()
  @IsIn(POLICY_STATUSES)
  readonly status: PolicyStatus = 'active';

  /** Only usage limits that count this unit. */
  @Optional()
  @IsIn(['cost', 'tokens'])
  readonly type?: UsageUnit;

  /** Only usage limits of this workspace, by id or slug. */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly workspace_id?: string;
}
