import { applyDecorators } from '@nestjs/common';
import { buildMessage, ValidateBy } from 'class-validator';
import { isObject } from '../../common/json/read.js';
import { isStorableText } from '../../common/storable-text.js';
import { AsGiven } from '../../common/validation/bounded-fields.js';

const MAX_ITEMS = 64;
const MAX_LENGTH = 2048;

/** A string, or a list of 1 to 64 strings. */
export function IsTextOrTexts(): PropertyDecorator {
  const hasItsForm = ValidateBy({
    name: 'isTextOrTexts',
    validator: {
      validate: isTextOrTexts,
      defaultMessage: buildMessage(() => `$property must be a string or an array of 1 to ${MAX_ITEMS} strings`),
    },
  });
  return applyDecorators(hasItsForm, AsGiven(MAX_ITEMS));
}

/** Strings or lists of strings, by claim. */
export function IsClaimValues(): PropertyDecorator {
  const hasItsForm = ValidateBy({
    name: 'isClaimValues',
    validator: {
      validate: isClaimValues,
      defaultMessage: buildMessage(
        () =>
          `$property must hold a string, or an array of 1 to ${MAX_ITEMS} strings, for each of at most ${MAX_ITEMS} claims`,
      ),
    },
  });
  return applyDecorators(hasItsForm, AsGiven(MAX_ITEMS));
}

function isClaimValues(value: unknown): boolean {
  if (!isObject(value)) return false;
  const entries = Object.entries(value);
  return entries.length <= MAX_ITEMS && entries.every(([claim, wanted]) => isText(claim) && isTextOrTexts(wanted));
}

function isTextOrTexts(value: unknown): boolean {
  if (!Array.isArray(value)) return isText(value);
  return value.length >= 1 && value.length <= MAX_ITEMS && value.every(isText);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH && isStorableText(value);
}
