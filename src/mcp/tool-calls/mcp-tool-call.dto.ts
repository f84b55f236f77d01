import { IsUUID } from 'class-validator';
import { MaxFields } from '../../common/validation/bounded-fields.js';
import { Optional } from '../../common/validation/optional.decorator.js';

/** More than any tool has. */
const MAX_ARGUMENTS = 256;

export class CallMcpServerToolDto {
  /**
   * As the tool's `input_schema` describes them; the server judges them. None when omitted.
   * @example { "city": "Paris" }
   */
  @Optional()
  @MaxFields(MAX_ARGUMENTS)
  readonly arguments?: Record<string, unknown>;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
