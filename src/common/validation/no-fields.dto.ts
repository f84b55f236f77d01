import { IsUUID } from 'class-validator';
import { Optional } from './optional.decorator.js';

/** The body of an action without parameters. Unknown fields are refused, as on all other routes. */
export class NoFieldsDto {
  /**
   * The organisation of the resource. Administrators of several need it; with an API key it can only be the key's own.
   */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
