import { IsBoolean, IsIn, IsString, IsUUID, Length, MaxLength, IsInt, Max, Min } from 'class-validator';
import { Items, MaxFields, Nested } from '../../../common/validation/bounded-fields.js';
import { ReadOnlyFields } from '../../../common/validation/fixed-fields.decorator.js';
import { IsNotReserved, IsSlug } from '../../../common/validation/slug.decorators.js';
import { IsName } from '../../../common/validation/is-name.decorator.js';
import { IsStorable } from '../../../common/validation/is-storable.decorator.js';
import { Optional, OptionalOrNull } from '../../../common/validation/optional.decorator.js';
import { ForwardHeadersDto } from '../../../identity/config/forward-headers.dto.js';
import { JwtValidationDto } from '../../../identity/config/jwt-validation.dto.js';
import { UserIdentityForwardingDto } from '../../../identity/config/user-identity-forwarding.dto.js';
import { IsSecretMappings, SecretMappingDto } from '../../../secret-references/dto/secret-mapping.dto.js';
import {
  MCP_AUTH_TYPES,
  MCP_TRANSPORTS,
  type McpAuthType,
  type McpTransport,
  type McpTimeouts,
} from '../mcp-server.types.js';

const MAX_HEADERS = 100;

/** Milliseconds. */
export class McpTimeoutsDto implements McpTimeouts {
  /** Until the answer to a POST or DELETE begins; open streams have no limit. Default 120000. */
  @Optional()
  @IsInt()
  @Min(100)
  @Max(3_600_000)
  readonly first_byte_ms?: number;
}

/** The fields that have the same rules in a create and in an update; see VirtualKeyFieldsDto. */
class McpServerFieldsDto {
  @OptionalOrNull()
  @IsString()
  @MaxLength(1024)
  @IsStorable()
  readonly description?: string | null;

  /** Default `streamable_http`; `sse` is the older transport with two addresses. */
  @Optional()
  @IsIn(MCP_TRANSPORTS)
  readonly transport?: McpTransport;

  /** What the gateway itself presents to the server: nothing (default), or `headers`. */
  @Optional()
  @IsIn(MCP_AUTH_TYPES)
  readonly auth_type?: McpAuthType;

  /** Fixed headers, for `auth_type` `headers`. Sealed, and only ever shown masked. An update is merged; `null` takes one out. */
  @Optional()
  @MaxFields(MAX_HEADERS)
  @IsStorable()
  readonly headers?: Record<string, unknown>;

  /**
   * Fields that take their values from secret references: `headers.<name>` (the whole value of the header) and
   * `jwt_validation.introspection.client_secret`. A mapped field may have no value of its own. On an update these take the
   * place of all mappings; null or an empty list removes them.
   */
  @OptionalOrNull()
  @IsSecretMappings()
  readonly secret_mappings?: SecretMappingDto[] | null;

  /** null: the server only sees the gateway. */
  @OptionalOrNull()
  @Nested(() => UserIdentityForwardingDto)
  readonly user_identity_forwarding?: UserIdentityForwardingDto | null;

  /** How tokens of the company's identity provider are judged; null: there is none. */
  @OptionalOrNull()
  @Nested(() => JwtValidationDto)
  readonly jwt_validation?: JwtValidationDto | null;

  /** Which of the client's headers go on beside those of the protocol; null: none. */
  @OptionalOrNull()
  @Nested(() => ForwardHeadersDto)
  readonly forward_headers?: ForwardHeadersDto | null;

  /** Origins of pages whose scripts may use the server: `https://app.example.com`. Others are refused. */
  @Optional()
  @Items({ max: 64, unique: true })
  @IsString({ each: true })
  @MaxLength(255, { each: true })
  @IsStorable()
  readonly allowed_origins?: string[];

  @Optional()
  @Nested(() => McpTimeoutsDto)
  readonly timeouts?: McpTimeoutsDto;

  /** A server that is not enabled is not there for callers. */
  @Optional()
  @IsBoolean()
  readonly enabled?: boolean;

  /** Holds back tools that are new, or that have another description or schema than before, until they are accepted. */
  @Optional()
  @IsBoolean()
  readonly pin?: boolean;

  /** Required with an administrator's token; with an API key it can only be the key's own. */
  @Optional()
  @IsUUID()
  readonly organisation_id?: string;
}

@ReadOnlyFields(['slug', 'workspace_id'], ['mcp_url', 'last_call'])
export class UpdateMcpServerDto extends McpServerFieldsDto {
  /** @example "Issue tracker" */
  @Optional()
  @IsName()
  readonly name?: string;

  /** Sealed headers have to be sent again when it changes to another host. */
  @Optional()
  @IsString()
  @Length(1, 2048)
  @IsStorable()
  readonly url?: string;
}

export class CreateMcpServerDto extends McpServerFieldsDto {
  /** @example "Issue tracker" */
  @IsName()
  readonly name: string;

  /**
   * The server's own address, https.
   * @example "https://mcp.example.com/mcp"
   */
  @IsString()
  @Length(1, 2048)
  @IsStorable()
  readonly url: string;

  /** Made from the name when omitted, with a suffix when that is taken. It is in the address to which clients connect. */
  @Optional()
  @IsSlug()
  @IsNotReserved()
  readonly slug?: string;

  /** Id or slug. Without it, a caller of the whole organisation makes a server that all its workspaces can use. */
  @OptionalOrNull()
  @IsString()
  @Length(1, 255)
  @IsStorable()
  readonly workspace_id?: string | null;
}
