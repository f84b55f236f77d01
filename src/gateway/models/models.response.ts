import { ApiProperty } from '@nestjs/swagger';

/** A model, in the forms of OpenAI's and Anthropic's API at once. */
export class ModelResponse {
  /** What callers write as `model`. */
  readonly id: string;
  @ApiProperty({ enum: ['model'] })
  readonly object: string;
  /** `model`, as Anthropic's API has it. */
  @ApiProperty({ enum: ['model'] })
  readonly type: string;
  /** Unix seconds; 0 where it is not known. */
  readonly created: number;
  /** The time of `created` in the form of RFC 3339. */
  readonly created_at: string;
  /** The provider, or `tollgate` for a model route. */
  readonly owned_by: string;
  /** The same as `id`. */
  readonly display_name: string;
}

export class ModelListResponse {
  @ApiProperty({ enum: ['list'] })
  readonly object: string;
  readonly data: ModelResponse[];
  readonly has_more: boolean;
  readonly first_id: string | null;
  readonly last_id: string | null;
}
