import { IsUUID } from 'class-validator';
import { Optional } from '../validation/optional.decorator.js';

export class OrganisationQuery {
  /** The organisation to read. Needed only with an administrator's token that grants several. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
