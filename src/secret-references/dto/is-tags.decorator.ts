import { applyDecorators } from '@nestjs/common';
import { buildMessage, ValidateBy } from 'class-validator';
import { isObject } from '../../common/json/read.js';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../common/json/scan.js';
import { AsGiven } from '../../common/validation/bounded-fields.js';
import { isStorable, IsStorable } from '../../common/validation/is-storable.decorator.js';

const MAX_KEYS = 64;
const MAX_BYTES = 16 * 1024;

/** An object of at most 64 fields and 16 KiB as JSON, whatever its values are. */
export function IsTags(): PropertyDecorator {
  const hasItsForm = ValidateBy({
    name: 'isTags',
    validator: {
      validate: isTags,
      defaultMessage: buildMessage(
        () => `$property must be an object of at most ${MAX_KEYS} fields and ${MAX_BYTES} bytes`,
      ),
    },
  });
  return applyDecorators(hasItsForm, IsStorable(), AsGiven(MAX_KEYS));
}

/** Tags as JSON text, which is their form in a query. */
export function IsTagsText(): PropertyDecorator {
  return ValidateBy({
    name: 'isTagsText',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && isTagsText(value),
      defaultMessage: buildMessage(
        () => `$property must be a JSON object of at most ${MAX_KEYS} fields and ${MAX_BYTES} bytes`,
      ),
    },
  });
}

function isTags(value: unknown): boolean {
  return (
    isObject(value) && Object.keys(value).length <= MAX_KEYS && Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES
  );
}

function isTagsText(text: string): boolean {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_BYTES || isDeeperThan(bytes, MAX_JSON_DEPTH)) return false;
  try {
    const value: unknown = JSON.parse(text);
    return isTags(value) && isStorable(value);
  } catch {
    return false;
  }
}
