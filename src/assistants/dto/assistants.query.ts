import { IsIn, IsString, Length, Matches } from 'class-validator';
import { OrderedCursorQuery } from '../../common/pagination/cursor.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS } from '../../common/constants.js';

export class MessagesQuery extends OrderedCursorQuery {
  /** Only the messages that this run made. */
  @Optional()
  @IsString()
  @Length(1, 512)
  @Matches(VISIBLE_ASCII, VISIBLE_ASCII_OPTIONS)
  readonly run_id?: string;
}

export class StoredFilesQuery extends OrderedCursorQuery {
  /** Only files in this state. */
  @Optional()
  @IsIn(['in_progress', 'completed', 'failed', 'cancelled'])
  readonly filter?: string;
}

const INCLUDABLE = ['step_details.tool_calls[*].file_search.results[*].content'] as const;

export class RunIncludeQuery {
  /** Further fields of the answer. */
  @Optional()
  @IsIn(INCLUDABLE)
  readonly 'include[]'?: (typeof INCLUDABLE)[number];
}

export class RunStepsQuery extends OrderedCursorQuery {
  /** Further fields of the answer. */
  @Optional()
  @IsIn(INCLUDABLE)
  readonly 'include[]'?: (typeof INCLUDABLE)[number];
}
