import { IsIn } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';

export const INCLUDABLE = ['step_details.tool_calls[*].file_search.results[*].content'] as const;

export class RunIncludeQuery {
  /** Further fields of the answer. */
  @Optional()
  @IsIn(INCLUDABLE)
  readonly 'include[]'?: (typeof INCLUDABLE)[number];
}
