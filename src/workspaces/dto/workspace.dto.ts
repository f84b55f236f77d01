import { IsInt, IsNumber, IsString, IsUUID, Max, MaxLength, Min } from 'class-validator';
import { Nested } from '../../common/validation/bounded-fields.js';
import { ReadOnlyFields } from '../../common/validation/fixed-fields.decorator.js';
import { IsMetadata } from '../../common/validation/is-metadata.decorator.js';
import { IsNotReserved, IsSlug } from '../../common/validation/slug.decorators.js';
import { IsName } from '../../common/validation/is-name.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../common/validation/optional.decorator.js';

export class WorkspaceDefaultsDto {
  /** Metadata of every request of the workspace, unless the request or its key says otherwise. */
  @Optional()
  @IsMetadata()
  readonly metadata?: Record<string, string>;
}

/** Which bodies of calls are kept beside the log. */
export class BodyLoggingDto {
  /** The share of the calls whose bodies are kept, over 0 up to 1. Default: 1. */
  @Optional()
  @IsNumber()
  @Min(0.0001)
  @Max(1)
  readonly sample_rate?: number;

  /** How many bytes of each body are kept; the rest is left out. Default: 65536. */
  @Optional()
  @IsInt()
  @Min(1_024)
  @Max(1024 * 1024)
  readonly max_bytes?: number;

  /** At most as long as the log itself is kept (`REQUEST_LOG_DAYS`). Default: 7. */
  @Optional()
  @IsInt()
  @Min(1)
  @Max(3_660)
  readonly retention_days?: number;
}

export class CreateWorkspaceDto {
  /** @example "Search team" */
  @IsName()
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

  /** Keeps the bodies of calls: sealed, apart from the database, for callers with the scope `logs.bodies`. null: none are kept. */
  @OptionalOrNull()
  @Nested(() => BodyLoggingDto)
  readonly log_bodies?: BodyLoggingDto | null;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

@ReadOnlyFields(['slug'])
export class UpdateWorkspaceDto {
  /** @example "Search team" */
  @Optional()
  @IsName()
  readonly name?: string;

  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  @Optional()
  @Nested(() => WorkspaceDefaultsDto)
  readonly defaults?: WorkspaceDefaultsDto;

  /** Keeps the bodies of calls: sealed, apart from the database, for callers with the scope `logs.bodies`. null: none are kept. */
  @OptionalOrNull()
  @Nested(() => BodyLoggingDto)
  readonly log_bodies?: BodyLoggingDto | null;

  /** Required with an administrator's token that grants several organisations. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
