import { IsUUID } from 'class-validator';
import { Optional } from '../../common/validation/optional.decorator.js';

export class CallerQuery {
  /** The organisation that is meant, for a token that grants several. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
