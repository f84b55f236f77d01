import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { buildMessage, ValidateBy } from 'class-validator';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { IsConditionValue } from '../../policies/dto/is-condition-value.decorator.js';
import type { PolicyKey } from '../../policies/policy-keys.js';
import { isTargetKey, TARGET_KEYS_TEXT } from '../target-terms.js';

const TEXT_OR_LIST = { oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] };

export class TargetConditionDto {
  /**
   * What is compared, among what is known before a call has a target: `metadata.tier`, `api_key` or `workspace_id`.
   * @example "metadata.tier"
   */
  @ApiProperty({ type: 'string' })
  @ValidateBy({
    name: 'isTargetKey',
    validator: {
      validate: isTargetKey,
      defaultMessage: buildMessage(() => `$property must be one of ${TARGET_KEYS_TEXT}`),
    },
  })
  @IsStorable()
  readonly key: PolicyKey;

  /** One value, or several of which one must match. `*` matches any value; at the end of a value, it matches any rest. */
  @ApiProperty({ ...TEXT_OR_LIST, example: 'gold' })
  @IsConditionValue()
  readonly value: string | readonly string[];

  /** Values that never match, whatever `value` says. */
  @ApiPropertyOptional(TEXT_OR_LIST)
  @Optional()
  @IsConditionValue()
  readonly excludes?: string | readonly string[];
}
