import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsUUID } from 'class-validator';
import { Optional } from '../validation/optional.decorator.js';
import { IsSortOf, ListQuery } from './list.query.js';

/** The query of a list of what is only ever added. */
export class LogListQuery extends ListQuery {
  /** Id of an entry: the page after it is returned, whatever was added since. Not together with `current_page`. */
  @Optional()
  @IsUUID()
  readonly after?: string;

  /** `false`: `total` is null, since to count a long log takes longer than to read a page. Default: `false` with `after`, else `true`. */
  @ApiPropertyOptional({ enum: ['true', 'false'] })
  @Optional()
  @IsIn(['true', 'false'])
  readonly include_total?: 'true' | 'false';

  @IsSortOf('created_at')
  override readonly sort: string = '-created_at';
}
