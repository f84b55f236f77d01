import { IsUUID } from 'class-validator';
import { MaxFields } from '../../common/validation/bounded-fields.js';
import { Optional } from '../../common/validation/optional.decorator.js';

/** More than any tool has. */
const MAX_ARGUMENTS = 256;

export class CallMcpServerToolDto {
  /**
   * The arguments, as the tool's `input_schema` describes them. The server judges them. Without them, the tool gets none.
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
