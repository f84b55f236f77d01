import { applyDecorators } from '@nestjs/common';
import { buildMessage, ValidateBy } from 'class-validator';
import { isObject } from '../json/read.js';
import { MAX_METADATA_KEYS, MAX_METADATA_LENGTH } from '../constants.js';
import { AsGiven } from './bounded-fields.js';
import { IsStorable } from './is-storable.decorator.js';

/** An object of strings within the limits of request metadata. */
export function IsMetadata(): PropertyDecorator {
  const hasItsForm = ValidateBy({
    name: 'isMetadata',
    validator: {
      validate: isMetadata,
      defaultMessage: buildMessage(
        () =>
          `$property must be an object of at most ${MAX_METADATA_KEYS} strings of at most ${MAX_METADATA_LENGTH} characters`,
      ),
    },
  });
  return applyDecorators(hasItsForm, IsStorable(), AsGiven(MAX_METADATA_KEYS));
}

function isMetadata(value: unknown): boolean {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MAX_METADATA_KEYS &&
    entries.every(
      ([key, item]) =>
        key.length <= MAX_METADATA_LENGTH && typeof item === 'string' && item.length <= MAX_METADATA_LENGTH,
    )
  );
}
