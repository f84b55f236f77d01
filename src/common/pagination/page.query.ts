import { IsInt, IsUUID, Max, Min } from 'class-validator';
import { Optional } from '../validation/optional.decorator.js';
import { ToNumber } from '../validation/conversion.decorators.js';

export class PageQuery {
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

  /** The organisation to read. Needed only with an administrator's token that grants several. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
