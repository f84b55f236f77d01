import { applyDecorators } from '@nestjs/common';
import { IsString, Matches, MaxLength } from 'class-validator';
import { SLUG_PATTERN } from '../slug.js';

/** Letters, digits, `_` and `-`, at most 255. */
export function IsSlug(): PropertyDecorator {
  return applyDecorators(IsString(), MaxLength(255), Matches(SLUG_PATTERN));
}
