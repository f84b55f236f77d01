import { IsInt, Max, Min } from 'class-validator';
import { Optional } from '../validation/optional.decorator.js';
import { ToNumber } from '../validation/conversion.decorators.js';
import { OrganisationQuery } from './organisation.query.js';

export class PageQuery extends OrganisationQuery {
  /** Number of the page, from 0. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(0)
  @Max(1_000_000)
  readonly current_page: number = 0;

  /** Items on a page. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(100)
  readonly page_size: number = 20;
}
