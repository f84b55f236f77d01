import { IsString, IsUUID, Length, MaxLength } from 'class-validator';
import { Nested } from '../../common/validation/bounded-fields.js';
import { ReadOnlyFields } from '../../common/validation/fixed-fields.decorator.js';
import { IsMetadata } from '../../common/validation/is-metadata.decorator.js';
import { IsNotReserved, IsSlug } from '../../common/validation/slug.decorators.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../common/validation/optional.decorator.js';

export class WorkspaceDefaultsDto {
  /** Metadata of every request of the workspace, unless the request or its key says otherwise. */
  @Optional()
  @IsMetadata()
  readonly metadata?: Record<string, string>;
}

export class CreateWorkspaceDto {
  /** @example "Search team" */
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly name: string;

  /** Made from the name when omitted. */
  @Optional()
  @IsSlug()
  @IsNotReserved()
  readonly slug?: string;

  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  @Optional()
  @Nested(() => WorkspaceDefaultsDto)
  readonly defaults?: WorkspaceDefaultsDto;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

@ReadOnlyFields(['slug'])
export class UpdateWorkspaceDto {
  /** @example "Search team" */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly name?: string;

  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  @Optional()
  @Nested(() => WorkspaceDefaultsDto)
  readonly defaults?: WorkspaceDefaultsDto;

  /** Required with an administrator's token that grants several organisations. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
