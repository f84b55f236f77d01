import {
  IsBoolean,
  IsIn,
  IsString,
  IsUUID,
  Length,
  Matches,
  MaxLength,
  buildMessage,
  ValidateBy,
  type ValidationArguments,
} from 'class-validator';
import { Items, MaxFields } from '../../common/validation/bounded-fields.js';
import { ReadOnlyFields } from '../../common/validation/fixed-fields.decorator.js';
import { IsSlug } from '../../common/validation/slug.decorators.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../common/validation/optional.decorator.js';
import { HOST_PATTERN } from '../../upstream/allowed-hosts.js';
import { PROVIDER_SLUGS, type ProviderSlug } from '../../upstream/providers/provider.types.js';
import { MANAGER_NAMES } from '../auth-config/auth-schemes.js';
import { IsTags } from './is-tags.decorator.js';

const MAX_WORKSPACES = 1_000;
const MAX_DESTINATIONS = 64;
/** More than any manager has. */
const MAX_CREDENTIALS = 100;

/**
 * The fields that have the same rules in a create and in an update. What only a create requires must stay out:
 * class-validator passes a parent's `@Optional()` on to the child's field of that name.
 */
class SecretReferenceFieldsDto {
  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  /** Which value of the secret, when it holds several: a field of its JSON, or of a Vault secret. null: the whole. */
  @OptionalOrNull()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly secret_key?: string | null;

  /** null: the current one. */
  @OptionalOrNull()
  @IsString()
  @Length(1, 64)
  @IsStorable()
  readonly secret_version?: string | null;

  /** Whether every workspace may use it. With false and no `allowed_workspaces`, no workspace may use it yet. */
  @Optional()
  @IsBoolean()
  @IsOneWorkspaceChoice()
  readonly allow_all_workspaces?: boolean;

  /** Ids or slugs of the workspaces that may use it, instead of all of them; null: no list, and without allow_all_workspaces no workspace may. */
  @OptionalOrNull()
  @Items({ min: 1, max: MAX_WORKSPACES })
  @IsString({ each: true })
  @Length(1, 255, { each: true })
  @IsOneWorkspaceChoice()
  readonly allowed_workspaces?: string[] | null;

  /**
   * Hosts to which the value may be sent, `*.` before a domain for all below it, with a port if it is not the default one; null:
   * all. Checked when a field is mapped, and at each use.
   * @example ["api.cohere.com"]
   */
  @OptionalOrNull()
  @Items({ min: 1, max: MAX_DESTINATIONS })
  @MaxLength(255, { each: true })
  @Matches(HOST_PATTERN, { each: true, message: '$property must list hosts, as api.example.com or *.example.com:8443' })
  readonly allowed_hosts?: string[] | null;

  /**
   * Providers whose virtual keys may use the value, at their own addresses; a `base_url` must also be in `allowed_hosts`. MCP
   * servers may not. null: all providers, and MCP servers.
   * @example ["cohere"]
   */
  @OptionalOrNull()
  @Items({ min: 1, max: MAX_DESTINATIONS })
  @IsIn(PROVIDER_SLUGS, { each: true })
  readonly allowed_providers?: ProviderSlug[] | null;

  /** For your own order: at most 64 fields, values of any kind. */
  @OptionalOrNull()
  @IsTags()
  readonly tags?: Record<string, unknown> | null;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

@ReadOnlyFields(['slug', 'manager_type', 'status', 'created_by'], ['last_resolved_at', 'last_error'])
export class UpdateSecretReferenceDto extends SecretReferenceFieldsDto {
  /** @example "Cohere production" */
  @Optional()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly name?: string;

  /** Merged over what is stored; `null` takes a field out, and a masked value that comes back changes nothing. */
  @Optional()
  @MaxFields(MAX_CREDENTIALS)
  @IsStorable()
  readonly auth_config?: Record<string, unknown>;

  /** Where the secret is in its manager. */
  @Optional()
  @IsString()
  @Length(1, 1024)
  @IsStorable()
  readonly secret_path?: string;
}

export class CreateSecretReferenceDto extends SecretReferenceFieldsDto {
  /** @example "Cohere production" */
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly name: string;

  /**
   * Each manager has two names; answers have the one that was used here.
   * @example "aws_sm"
   */
  @IsIn(MANAGER_NAMES)
  readonly manager_type: string;

  /**
   * Credentials for the manager; see docs/guides/secret-references.md. Secrets are sealed at once, and only ever shown masked.
   * @example { "aws_auth_type": "accessKey", "aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": "<secret>", "aws_region": "eu-central-1" }
   */
  @MaxFields(MAX_CREDENTIALS)
  @IsStorable()
  readonly auth_config: Record<string, unknown>;

  /**
   * Where the manager keeps the secret: a name or an ARN, a name, or a path.
   * @example "prod/cohere"
   */
  @IsString()
  @Length(1, 1024)
  @IsStorable()
  readonly secret_path: string;

  /**
   * Whether every workspace may use it. With false and no `allowed_workspaces`, no workspace may use it yet. Default: true; with
   * `allowed_workspaces` false; for callers of one workspace also false, since their references are for that workspace.
   */
  override readonly allow_all_workspaces?: boolean;

  /** Made from the name when omitted. */
  @Optional()
  @IsSlug()
  readonly slug?: string;
}

/** For both fields that say which workspaces may use a reference: all of them, or some, but not both. */
function IsOneWorkspaceChoice(): PropertyDecorator {
  return ValidateBy({
    name: 'isOneWorkspaceChoice',
    validator: {
      validate: (_value: unknown, args?: ValidationArguments) => args === undefined || isOneChoice(args.object),
      defaultMessage: buildMessage(
        () => '$property: allow_all_workspaces = true and allowed_workspaces exclude each other',
      ),
    },
  });
}

function isOneChoice(body: object): boolean {
  return !(
    'allow_all_workspaces' in body &&
    body.allow_all_workspaces === true &&
    'allowed_workspaces' in body &&
    body.allowed_workspaces !== undefined &&
    body.allowed_workspaces !== null
  );
}
