import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, Length, Matches, Max, Min, ValidateBy } from 'class-validator';
import { VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS } from '../../common/constants.js';
import { isObject } from '../../common/json/read.js';
import { CursorQuery } from '../../common/pagination/cursor.query.js';
import { ToNumber } from '../../common/validation/conversion.decorators.js';
import { DeepObject } from '../../common/validation/deep-object.decorator.js';
import { AsGiven } from '../../common/validation/bounded-fields.js';
import { Optional } from '../../common/validation/optional.decorator.js';

/** OpenAI's bounds of metadata. */
const MAX_MEMBERS = 16;
const MAX_NAME = 64;
const MAX_VALUE = 512;

export class FineTuningJobsQuery extends CursorQuery {
  @ApiPropertyOptional({
    description:
      'Only jobs with these labels, written as `metadata[team]=search`; or `metadata=null` for jobs without any.',
    type: 'object',
    additionalProperties: { type: 'string' },
  })
  @Optional()
  @DeepObject()
  @AsGiven(MAX_MEMBERS)
  @IsMetadataFilter()
  readonly metadata?: Record<string, string> | string;
}

/** Paging of the events and checkpoints of a job, which are many. No `CursorQuery`, whose maximum would apply as well. */
export class FineTuningItemsQuery {
  /** Items on a page. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly limit: number = 20;

  /** Id of an object; the page after it is returned. */
  @Optional()
  @IsString()
  @Length(1, 1024)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly after?: string;
}

export class CheckpointPermissionsQuery extends CursorQuery {
  /** Order by `created_at`. */
  @Optional()
  @IsIn(['ascending', 'descending'])
  readonly order?: 'ascending' | 'descending';

  /** Only the permissions of this project. */
  @Optional()
  @IsString()
  @Length(1, 512)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly project_id?: string;
}

function IsMetadataFilter(): PropertyDecorator {
  return ValidateBy({
    name: 'isMetadataFilter',
    validator: {
      validate: isMetadataFilter,
      defaultMessage: () =>
        `metadata must be null, or at most ${MAX_MEMBERS} names of at most ${MAX_NAME} characters, each with one value of at most ${MAX_VALUE}`,
    },
  });
}

function isMetadataFilter(value: unknown): boolean {
  if (!isObject(value)) return value === 'null' || value === '';
  const members = Object.entries(value);
  return (
    members.length <= MAX_MEMBERS &&
    members.every(([name, text]) => name !== '' && name.length <= MAX_NAME && isValue(text))
  );
}

function isValue(text: unknown): boolean {
  return typeof text === 'string' && text.length <= MAX_VALUE;
}
