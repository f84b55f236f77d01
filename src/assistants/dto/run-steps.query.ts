import { IsIn } from 'class-validator';
import { OrderedCursorQuery } from '../../common/pagination/cursor.query.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { INCLUDABLE } from './run-include.query.js';

export class RunStepsQuery extends OrderedCursorQuery {
  /** Further fields of the answer. */
  @Optional()
  @IsIn(INCLUDABLE)
  readonly 'include[]'?: (typeof INCLUDABLE)[number];
}
