import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsIn, IsInt, IsString, IsUUID, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { TOOL_PATTERN } from '../../access/mcp-grants.js';
import { MODEL_PATTERN } from '../../access/model-patterns.js';
import {
  RATE_LIMIT_OWNERS,
  RATE_LIMIT_UNITS,
  type RateLimitOwner,
  type RateLimitUnit,
} from '../../access/principal.js';
import { SCOPES, type Scope } from '../../access/scopes.js';
import { SLUG_PATTERN } from '../../common/slug.js';
import { LAST_SECOND } from '../../common/time/unix-time.js';
import { Items, ListOf, Nested } from '../../common/validation/bounded-fields.js';
import { ReadOnlyFields } from '../../common/validation/fixed-fields.decorator.js';
import { IsMetadata } from '../../common/validation/is-metadata.decorator.js';
import { IsName } from '../../common/validation/is-name.decorator.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../common/validation/optional.decorator.js';
import { IsUserClaims } from './is-user-claims.decorator.js';

/** Thirty days: long enough for any rollout, short enough that an old key does not live on by accident. */
const MAX_TRANSITION_SECONDS = 30 * 86_400;

// More than there are: a list of all of them is never too long.
const MAX_SCOPES = 200;
const MAX_RATE_LIMITS = 20;
/** Checked with each call. */
const MAX_MCP_SERVERS = 256;
const MAX_MCP_TOOLS = 256;
/** Of the lists of what a key may use. */
const MAX_ALLOWED = 100;

/** To MCP servers, `api_key:<id>` is a key without a user. */
export function IsNoMachine(): PropertyDecorator {
  return Matches(/^(?!api_key:)/i, { message: '$property must not begin with api_key:' });
}

export class KeyUserDto {
  /**
   * The id of the user in your own system.
   * @example "u-42"
   */
  @IsString()
  @Length(1, 255)
  @IsNoMachine()
  @IsStorable()
  readonly user_id: string;

  /** The user's email address. */
  @Optional()
  @IsString()
  @MaxLength(320)
  @IsStorable()
  readonly email?: string;

  /** The user's name. */
  @Optional()
  @IsString()
  @MaxLength(255)
  @IsStorable()
  readonly username?: string;

  /** Subject of the user at the company's identity provider. */
  @Optional()
  @IsString()
  @MaxLength(255)
  @IsNoMachine()
  @IsStorable()
  readonly sub?: string;

  /**
   * Further claims about the user, at most 64. None that only an authority can make, such as `iss`, `amr`, `email_verified` or
   * `scope`.
   */
  @Optional()
  @IsUserClaims()
  readonly claims?: Record<string, unknown>;
}

export class RateLimitDto {
  /** What is counted. */
  @IsIn(['requests'])
  readonly type: 'requests';

  /** Requests per second, minute, hour or day. */
  @IsIn(RATE_LIMIT_UNITS)
  readonly unit: RateLimitUnit;

  /** How many requests are allowed per unit of time. */
  @IsInt()
  @Min(1)
  @Max(1_000_000_000)
  readonly value: number;

  /**
   * Whose requests are counted together: those of the key (default), of all keys of its user with such a limit, or of all keys
   * of its workspace with one.
   */
  @Optional()
  @IsIn(RATE_LIMIT_OWNERS)
  readonly per?: RateLimitOwner;
}

/**
 * The fields that have the same rules in a create and in an update. What only a create requires must stay out:
 * class-validator passes a parent's `@Optional()` on to the child's field of that name.
 */
class ApiKeyFieldsDto {
  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  /** Laid over the metadata that clients send. What the caller itself is held to must be among it. */
  @Optional()
  @IsMetadata()
  readonly metadata?: Record<string, string>;

  /** Unix seconds; null: never. Not later than the caller's own. */
  @OptionalOrNull()
  @IsInt()
  @Min(0)
  @Max(LAST_SECOND)
  readonly expires_at?: number | null;

  /**
   * Each unit once for each `per`. Of the caller's own limits, no higher ones: such a limit also counts for the caller.
   */
  @Optional()
  @ListOf(() => RateLimitDto, { max: MAX_RATE_LIMITS, unique: ['unit', 'per'] })
  readonly rate_limits?: RateLimitDto[];

  /**
   * The MCP servers that the key may use, by slug or id; null: all. For those of the caller's own list only, if it has one.
   * @example ["issue-tracker"]
   */
  @OptionalOrNull()
  @Items({ max: MAX_MCP_SERVERS, unique: true })
  @IsString({ each: true })
  @Length(1, 255, { each: true })
  @Matches(SLUG_PATTERN, { each: true, message: '$property must be slugs or ids of MCP servers' })
  readonly allowed_mcp_servers?: string[] | null;

  /**
   * The tools of MCP servers that the key may use, as patterns of `<server>/<tool>` in which `*` stands for any characters;
   * null: all. If the caller has patterns itself, they must cover these.
   * @example ["issue-tracker/get_*"]
   */
  @OptionalOrNull()
  @Items({ max: MAX_MCP_TOOLS, unique: true })
  @Matches(TOOL_PATTERN, { each: true, message: '$property must be <server>/<tool>, each with * for any characters' })
  @IsStorable()
  readonly allowed_mcp_tools?: string[] | null;

  /**
   * Models that calls may use, at most 100; null: all. A star at the end stands for any rest. `@slug/` in front restricts a
   * pattern to one virtual key. Models that the caller itself may not use are refused.
   * @example ["rerank-v3.5", "@openai/gpt-*"]
   */
  @OptionalOrNull()
  @Items({ max: MAX_ALLOWED })
  @IsString({ each: true })
  @Length(1, 512, { each: true })
  @Matches(MODEL_PATTERN, { each: true, message: '$property must have a star at the end of a pattern only' })
  @IsStorable()
  readonly allowed_models?: string[] | null;

  /** Ids or slugs of the virtual keys that calls may use, at most 100; null: all. The caller must be able to use them. */
  @OptionalOrNull()
  @Items({ max: MAX_ALLOWED })
  @IsString({ each: true })
  @Length(1, 255, { each: true })
  readonly allowed_virtual_keys?: string[] | null;

  /** Id or slug of the virtual key for calls that name none; null: none. */
  @OptionalOrNull()
  @IsString()
  @Length(1, 255)
  readonly default_virtual_key?: string | null;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

@ReadOnlyFields(['type', 'level', 'workspace_id', 'user', 'created_by', 'status'], ['prefix', 'last_used_at'])
export class UpdateApiKeyDto extends ApiKeyFieldsDto {
  /** @example "search service" */
  @Optional()
  @IsName()
  readonly name?: string;

  /** Permissions; none that the caller lacks. */
  @ApiPropertyOptional({ enum: SCOPES, enumName: 'Scope', isArray: true })
  @Optional()
  @Items({ min: 1, max: MAX_SCOPES, unique: true })
  @IsIn(SCOPES, { each: true })
  readonly scopes?: Scope[];
}

/** The fields of every create. */
export class NewApiKeyDto extends ApiKeyFieldsDto {
  /** @example "search service" */
  @IsName()
  readonly name: string;

  /**
   * Permissions; none that the caller lacks.
   * @example ["completions.write"]
   */
  @ApiProperty({ enum: SCOPES, enumName: 'Scope', isArray: true })
  @Items({ min: 1, max: MAX_SCOPES, unique: true })
  @IsIn(SCOPES, { each: true })
  readonly scopes: Scope[];

  /** `workspace` keys act in one workspace, `organisation` keys in all of them. */
  @Optional()
  @IsIn(['workspace', 'organisation'])
  readonly level?: 'workspace' | 'organisation';

  /**
   * Id or slug; required for `workspace` keys unless the caller itself acts in one workspace.
   * @example "default"
   */
  @OptionalOrNull()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly workspace_id?: string | null;

  /** null: none. */
  @OptionalOrNull()
  @Nested(() => KeyUserDto)
  readonly user?: KeyUserDto | null;
}

export class CreateApiKeyDto extends NewApiKeyDto {
  /** `user` keys stand for a person and need `user`. A person other than the caller takes the scope `identities.assert`. */
  @Optional()
  @IsIn(['service', 'user'])
  readonly type?: 'service' | 'user';
}

export class RotateApiKeyDto {
  /**
   * How long the old secret still works, in seconds. 0 ends it at once.
   * @example 3600
   */
  @Optional()
  @IsInt()
  @Min(0)
  @Max(MAX_TRANSITION_SECONDS)
  readonly transition_seconds?: number;

  /** Required with an administrator's token that grants several organisations. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}
