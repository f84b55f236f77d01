import { applyDecorators } from '@nestjs/common';
import { buildMessage, ValidateBy } from 'class-validator';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { isPolicyKey, POLICY_KEYS_TEXT } from '../policy-keys.js';

export function IsPolicyKey(): PropertyDecorator {
  const isKey = ValidateBy({
    name: 'isPolicyKey',
    validator: {
      validate: isPolicyKey,
      defaultMessage: buildMessage(() => `$property must be one of ${POLICY_KEYS_TEXT}`),
    },
  });
  return applyDecorators(isKey, IsStorable());
}
