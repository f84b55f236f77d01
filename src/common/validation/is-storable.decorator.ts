import { buildMessage, ValidateBy } from 'class-validator';
import { isStorableText } from '../storable-text.js';

/** For text and free-form JSON that is stored unchanged. */
export function IsStorable(): PropertyDecorator {
  return ValidateBy({
    name: 'isStorable',
    validator: {
      validate: isStorable,
      defaultMessage: buildMessage(() => '$property must not contain NUL characters or unpaired surrogates'),
    },
  });
}

/** Whether PostgreSQL can store the value as text or as JSON. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return isStorableText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isStorable);
  return Object.entries(value).every(([key, item]) => isStorable(key) && isStorable(item));
}
