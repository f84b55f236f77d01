import { IsBoolean, IsInt, IsNumber, IsString, IsUUID, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { ListOf } from '../../common/validation/bounded-fields.js';
import { ReadOnlyFields } from '../../common/validation/fixed-fields.decorator.js';
import { IsName } from '../../common/validation/is-name.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../common/validation/optional.decorator.js';
import { IsSlug } from '../../common/validation/slug.decorators.js';
import { TargetConditionDto } from './target-condition.dto.js';

const MAX_TARGETS = 16;
const MAX_ORDER = 1_000;
const MAX_WEIGHT = 1_000;
const MAX_OUTPUT_TOKENS = 10_000_000;
const MAX_CONDITIONS = 20;
const MAX_ESTIMATED_TOKENS = 100_000_000;
const MIN_TIMEOUT_MS = 100;
const MAX_TIMEOUT_MS = 3_600_000;
/** `@` begins the slug of a virtual key. */
const NO_PREFIX = /^(?!@)/;
const NO_PREFIX_MESSAGE = { message: '$property must not begin with @, which begins the slug of a virtual key' };

export class ModelTargetDto {
  /**
   * Id or slug of a virtual key that the callers of the route can use.
   * @example "openai"
   */
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly virtual_key: string;

  /**
   * The model, as its provider knows it.
   * @example "gpt-5-mini"
   */
  @IsString()
  @Length(1, 512)
  @IsStorable()
  readonly model: string;

  /**
   * The model behind a name that says nothing about it, as of a deployment or of a model that was tuned: its prices and bounds
   * count. Takes precedence over that of the virtual key.
   * @example "gpt-4o-mini"
   */
  @OptionalOrNull()
  @IsString()
  @Length(1, 512)
  @IsStorable()
  readonly base_model?: string | null;

  /** Targets with a lower one are tried first; of equal ones, the first. */
  @Optional()
  @IsInt()
  @Min(0)
  @Max(MAX_ORDER)
  readonly order?: number;

  /**
   * Its share of the calls, among the healthy targets of the same order. If only some of them have a weight, the others count as 1.
   * If none has, the first in the list takes the calls.
   */
  @OptionalOrNull()
  @IsInt()
  @Min(1)
  @Max(MAX_WEIGHT)
  readonly weight?: number | null;

  /**
   * The target takes only calls that meet all of them, also when another target fails.
   * @example [{ "key": "metadata.tier", "value": ["gold", "platinum"] }]
   */
  @Optional()
  @ListOf(() => TargetConditionDto, { max: MAX_CONDITIONS })
  readonly conditions?: TargetConditionDto[];

  /** The target takes no smaller calls. A quarter of the bytes of the body is the estimate. */
  @OptionalOrNull()
  @IsInt()
  @Min(1)
  @Max(MAX_ESTIMATED_TOKENS)
  readonly min_estimated_tokens?: number | null;

  /** The target takes no larger calls. */
  @OptionalOrNull()
  @IsInt()
  @Min(1)
  @Max(MAX_ESTIMATED_TOKENS)
  readonly max_estimated_tokens?: number | null;

  /**
   * From 0 to 1: the target takes a call only while each strict usage limit of the call has at least this share left. A cheaper
   * target without it can then take the rest.
   * @example 0.2
   */
  @OptionalOrNull()
  @IsNumber({ maxDecimalPlaces: 4 })
  @Min(0)
  @Max(1)
  readonly min_budget_left?: number | null;

  /**
   * Milliseconds until its answer begins: then the next target takes the call. Longer than the limits of the virtual key and of the
   * gateway, it has no effect.
   */
  @OptionalOrNull()
  @IsInt()
  @Min(MIN_TIMEOUT_MS)
  @Max(MAX_TIMEOUT_MS)
  readonly timeout_ms?: number | null;
}

class ModelRouteFieldsDto {
  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  /** The highest output cap: a call with a higher one, or with none, gets this one. */
  @OptionalOrNull()
  @IsInt()
  @Min(1)
  @Max(MAX_OUTPUT_TOKENS)
  readonly max_output_tokens?: number | null;

  /** Lowers the output cap of a call to what its usage limits have room for, not below 1,024 tokens. */
  @Optional()
  @IsBoolean()
  readonly clamp_output?: boolean;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

@ReadOnlyFields(['slug', 'workspace_id'])
export class UpdateModelRouteDto extends ModelRouteFieldsDto {
  /** What callers write as `model`; unique in its workspace. */
  @Optional()
  @Matches(NO_PREFIX, NO_PREFIX_MESSAGE)
  @IsName()
  readonly name?: string;

  /** Models of virtual keys: when one fails, the next takes the call. They take the place of all that were there. */
  @Optional()
  @ListOf(() => ModelTargetDto, { min: 1, max: MAX_TARGETS })
  readonly targets?: ModelTargetDto[];
}

export class CreateModelRouteDto extends ModelRouteFieldsDto {
  /**
   * What callers write as `model`; unique in its workspace.
   * @example "fast"
   */
  @Matches(NO_PREFIX, NO_PREFIX_MESSAGE)
  @IsName()
  readonly name: string;

  /**
   * Models of virtual keys: when one fails, the next takes the call.
   * @example [{ "virtual_key": "local", "model": "bm25" }]
   */
  @ListOf(() => ModelTargetDto, { min: 1, max: MAX_TARGETS })
  readonly targets: ModelTargetDto[];

  /** For addresses; made from the name when omitted. */
  @Optional()
  @IsSlug()
  readonly slug?: string;

  /** Id or slug. Without it, a caller of the whole organisation makes a route that all its workspaces can use. */
  @OptionalOrNull()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly workspace_id?: string | null;
}
