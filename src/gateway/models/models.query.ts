import { IsInt, IsString, Length, Max, Min } from 'class-validator';
import { ToNumber } from '../../common/validation/conversion.decorators.js';
import { IgnoresUnknownFields } from '../../common/validation/ignores-unknown-fields.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';

/** Paging of Anthropic's API. OpenAI's has none. Clients send more: Codex its version, others the kind of model that they want. */
@IgnoresUnknownFields()
export class ModelsQuery {
  /** Models on a page. */
  @Optional()
  @ToNumber()
  @IsInt()
  @Min(1)
  @Max(1000)
  readonly limit: number = 1000;

  /** Id of a model; the page after it is returned. */
  @Optional()
  @IsString()
  @Length(1, 1024)
  readonly after_id?: string;

  /** Id of a model; the page before it is returned. */
  @Optional()
  @IsString()
  @Length(1, 1024)
  readonly before_id?: string;
}
