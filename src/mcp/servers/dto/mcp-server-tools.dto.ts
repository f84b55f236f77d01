import { ApiProperty } from '@nestjs/swagger';
import { IsBoolean, IsInt, IsString, IsUUID, Length, MaxLength } from 'class-validator';
import { ListOf, MaxFields } from '../../../common/validation/bounded-fields.js';
import { ReadOnlyFields } from '../../../common/validation/fixed-fields.decorator.js';
import { IsStorable } from '../../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../../common/validation/optional.decorator.js';
import { Synonyms } from '../../../common/validation/synonyms.decorator.js';

export class ToolChoiceDto {
  /**
   * The name of the tool.
   * @example "create_issue"
   */
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly name: string;

  /** A disabled tool is left out of lists, and its calls are refused. */
  @IsBoolean()
  readonly enabled: boolean;

  /** The value that was read. It changes nothing. */
  @OptionalOrNull()
  @IsString()
  readonly description?: string | null;

  /** The value that was read. It changes nothing. */
  @OptionalOrNull()
  @IsInt()
  readonly seen_at?: number | null;

  /** With `held` false: the definition that is accepted. Otherwise it changes nothing. */
  @OptionalOrNull()
  @IsString()
  @MaxLength(64)
  readonly hash?: string | null;

  /** The value that was read. It changes nothing. */
  @OptionalOrNull()
  @MaxFields(100)
  readonly input_schema?: Record<string, unknown> | null;

  /** The value that was read. It changes nothing. */
  @OptionalOrNull()
  @IsInt()
  readonly changed_at?: number | null;

  /** false accepts a tool that is held; with `hash`, only if it is still this one. true changes nothing. */
  @Optional()
  @IsBoolean()
  readonly held?: boolean;
}

/** A list can be sent back as it was read: its items are in `data`, and how many there are is ignored. */
@Synonyms({ data: 'tools' })
@ReadOnlyFields([], ['total'])
export class UpdateMcpServerToolsDto {
  /**
   * Tools that are not named stay as they are. A tool can be named before the server was ever asked for its tools. `data` is
   * another name of this field: a list that was read is a valid body.
   */
  @ApiProperty({ type: [ToolChoiceDto], example: [{ name: 'create_issue', enabled: false }] })
  @ListOf(() => ToolChoiceDto, { max: 1_000, unique: ['name'] })
  readonly tools: ToolChoiceDto[];

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
