import { IsString, Length, Matches } from 'class-validator';
import { ID_CHARACTERS, OrderedCursorQuery } from '../../common/pagination/cursor.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';

export class MessagesQuery extends OrderedCursorQuery {
  /** Only the messages that this run made. */
  @Optional()
  @IsString()
  @Length(1, 512)
  @Matches(ID_CHARACTERS)
  readonly run_id?: string;
}
