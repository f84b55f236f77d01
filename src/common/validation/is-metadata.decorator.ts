import { applyDecorators } from '@nestjs/common';
import { buildMessage, ValidateBy } from 'class-validator';
import { isObject } from '../json/read.js';
import { AsGiven } from './as-given.decorator.js';
import { IsStorable } from './is-storable.decorator.js';

const MAX_KEYS = 32;
const MAX_LENGTH = 128;

/** An object of at most 32 strings of at most 128 characters, the form of request metadata. */
export function IsMetadata(): PropertyDecorator {
  const hasItsForm = ValidateBy({
    name: 'isMetadata',
    validator: {
      validate: isMetadata,
      defaultMessage: buildMessage(
        () => `$property must be an object of at most ${MAX_KEYS} strings of at most ${MAX_LENGTH} characters`,
      ),
    },
  });
  return applyDecorators(hasItsForm, IsStorable(), AsGiven());
}

function isMetadata(value: unknown): boolean {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MAX_KEYS &&
    entries.every(([key, item]) => key.length <= MAX_LENGTH && typeof item === 'string' && item.length <= MAX_LENGTH)
  );
}
