import { applyDecorators } from '@nestjs/common';
import { buildMessage, ValidateBy } from 'class-validator';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { isReportKey, REPORT_KEYS_TEXT } from '../report-keys.js';

/** Requires every item to be a key that reports can group by. */
export function IsReportKey(): PropertyDecorator {
  const areKeys = ValidateBy({
    name: 'isReportKey',
    validator: {
      validate: (value) => Array.isArray(value) && value.every((key) => typeof key === 'string' && isReportKey(key)),
      defaultMessage: buildMessage(() => `$property must list ${REPORT_KEYS_TEXT}, separated by commas`),
    },
  });
  return applyDecorators(areKeys, IsStorable());
}
