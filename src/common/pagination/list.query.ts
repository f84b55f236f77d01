import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional, IntersectionType } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Length, Matches, Max, Min } from 'class-validator';
import { LAST_SECOND } from '../time/unix-time.js';
import { UUID_PATTERN } from '../uuid.js';
import { ToNumber } from '../validation/conversion.decorators.js';
import { IsStorable } from '../validation/is-storable.decorator.js';
import { Optional } from '../validation/optional.decorator.js';
import { PageQuery } from './page.query.js';

/** Newest first. */
const DEFAULT_SORT = '-created_at';

/** Only what has this text in its field. @param max characters */
export function IsTextFilter(max = 255): PropertyDecorator {
  const schema = ApiPropertyOptional({ type: 'string', minLength: 1, maxLength: max });
  return applyDecorators(Optional(), IsString(), Length(1, max), IsStorable(), schema);
}

const MAX_IDS = 100;
const IDS = new RegExp(`^${UUID_PATTERN}(?:,${UUID_PATTERN}){0,${MAX_IDS - 1}}$`);

/** Only those with these ids, in one page of the largest size. */
export function IsIdsFilter(): PropertyDecorator {
  const message = `$property must be at most ${MAX_IDS} ids with commas between them`;
  const description = `Only those with these ids: at most ${MAX_IDS}, with commas between them.`;
  const schema = ApiPropertyOptional({ type: 'string', pattern: IDS.source, description });
  return applyDecorators(Optional(), Matches(IDS, { message }), schema);
}

export class SearchQuery {
  /** Part of the name, or of what else names the resource, in any case. */
  @IsTextFilter()
  readonly search?: string;
}

/** The query of a list that has an order of its own. */
export class SearchPageQuery extends IntersectionType(PageQuery, SearchQuery) {}

/** The query of a list of resources. */
export class ListQuery extends SearchPageQuery {
  readonly sort: string = DEFAULT_SORT;
}

export const EXPIRY_STATUSES = ['active', 'expired'] as const;
export type ExpiryStatus = (typeof EXPIRY_STATUSES)[number];

/** The query of a list of resources that may expire. */
export class ExpirableListQuery extends ListQuery {
  /** Only those that are `active`, or only those that are `expired`. */
  @Optional()
  @IsIn(EXPIRY_STATUSES)
  readonly status?: ExpiryStatus;

  /** Unix seconds: only those that expire before. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(LAST_SECOND)
  readonly expires_before?: number;
}

/** A field of a resource to sort by; `-` before it reverses the order. Every resource can be sorted by its times. */
export function IsSort(...fields: readonly string[]): PropertyDecorator {
  return IsSortOf('created_at', 'updated_at', ...fields);
}

/** A field to sort by of resources that never change, and so have no `updated_at`. */
export function IsSortOf(...fields: readonly string[]): PropertyDecorator {
  const all = fields.flatMap((field) => [field, `-${field}`]);
  const description = 'The field to sort by; with `-` before it, in descending order.';
  return applyDecorators(
    IsIn(all),
    ApiPropertyOptional({ type: 'string', enum: all, default: DEFAULT_SORT, description }),
  );
}
