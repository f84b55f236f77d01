import { IsUUID } from 'class-validator';
import { Optional } from './optional.decorator.js';

/** The body of an action that needs to be told nothing: so that a field which it does not have is refused, as everywhere. */
export class NoFieldsDto {
  /** Whose resource it is, for administrators of several organisations; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
