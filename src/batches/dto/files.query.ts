import { IsIn, IsInt, IsString, Length, Matches, Max, Min } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';
import { ToNumber } from '../../common/validation/conversion.decorators.js';
import { VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS } from '../../common/constants.js';

export class FilesQuery {
  /** Only files with this purpose, e.g. `batch`. */
  @Optional()
  @IsString()
  @Length(1, 64)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly purpose?: string;

  /** How many files to return. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(10_000)
  readonly limit?: number;

  /** Order by `created_at`. */
  @Optional()
  @IsIn(['asc', 'desc'])
  readonly order?: 'asc' | 'desc';

  /** Id of a file; the page after it is returned. */
  @Optional()
  @IsString()
  @Length(1, 1024)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly after?: string;
}
