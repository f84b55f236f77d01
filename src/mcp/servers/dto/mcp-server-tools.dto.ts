import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsBoolean,
  IsInt,
  IsString,
  IsUUID,
  Length,
  ValidateNested,
  IsObject,
} from 'class-validator';
import { IsStorable } from '../../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../../common/validation/optional.decorator.js';

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

  /** As it was read: it changes nothing. */
  @OptionalOrNull()
  @IsString()
  readonly description?: string | null;

  /** As it was read: it changes nothing. */
  @OptionalOrNull()
  @IsInt()
  readonly seen_at?: number | null;
}

export class UpdateMcpServerToolsDto {
  /** Tools that are not named stay as they are. A tool can be named before the server was ever asked for its tools. */
  @ApiProperty({ type: [ToolChoiceDto], example: [{ name: 'create_issue', enabled: false }] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(1000)
  @ArrayUnique((choice: unknown): unknown => Object(choice).name)
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => ToolChoiceDto)
  readonly tools: ToolChoiceDto[];

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
