import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Length, Matches, Max, Min } from 'class-validator';
import { Optional } from '../validation/optional.decorator.js';
import { ToNumber } from '../validation/conversion.decorators.js';
import { VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS } from '../constants.js';

/** Paging of provider-style lists, forwards only. */
export class CursorQuery {
  /** Items on a page. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(100)
  readonly limit: number = 20;

  /** Id of an object; the page after it is returned. */
  @Optional()
  @IsString()
  @Length(1, 1024)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly after?: string;
}

/** Paging of provider-style lists, both ways and in either order of creation. */
export class OrderedCursorQuery extends CursorQuery {
  /** Order by `created_at`. */
  @ApiPropertyOptional({ enum: ['asc', 'desc'] })
  @Optional()
  @IsIn(['asc', 'desc'])
  readonly order: 'asc' | 'desc' = 'desc';

  /** Id of an object; the page before it is returned. */
  @Optional()
  @IsString()
  @Length(1, 1024)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly before?: string;
}
