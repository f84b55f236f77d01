import { IsBoolean, IsIn, IsInt, IsString, Length, Max, Min } from 'class-validator';
import { Items } from '../../common/validation/bounded-fields.js';
import { IsStorable } from '../../common/validation/is-storable.decorator.js';
import { Optional } from '../../common/validation/optional.decorator.js';
import { FORWARDING_METHODS, type ForwardingMethod, type UserIdentityForwarding } from './identity-config.js';

const MAX_CLAIMS = 64;

/** How the user's identity is forwarded to the MCP server. Rules between the fields: identity-config.checks.ts. */
export class UserIdentityForwardingDto implements UserIdentityForwarding {
  /** How the user is named: a header with claims, the user's own token, or a token signed by the gateway. */
  @IsIn(FORWARDING_METHODS)
  readonly method: ForwardingMethod;

  /**
   * Claims to forward, in this order. Default: sub, email, username, user_id, workspace_id, organisation_id, scope, client_id.
   * @example ["sub", "email"]
   */
  @Optional()
  @Items({ min: 1, max: MAX_CLAIMS, unique: true })
  @IsString({ each: true })
  @Length(1, 255, { each: true })
  @IsStorable()
  readonly include_claims?: string[];

  /** Default: `X-User-Claims`, `Authorization` or `X-User-JWT`, by the method. */
  @Optional()
  @IsString()
  @Length(1, 128)
  readonly header_name?: string;

  /** Only for `jwt_header`; default 300. */
  @Optional()
  @IsInt()
  @Min(1)
  @Max(86_400)
  readonly jwt_expiry_seconds?: number;

  /** Only for `jwt_header`: the `aud` of the token, so that no other server accepts it. One server of the gateway may have it. */
  @Optional()
  @IsString()
  @Length(1, 2048)
  @IsStorable()
  readonly audience?: string;

  /**
   * Only for `jwt_header`: the token has `aud` (`audience`, else the server's `url`, which only one server of the gateway may
   * have), `org` (the id of the organisation) and `auth_method` (`api_key`, `oauth`, `external_idp`, or `administrator` for a tool
   * that is tried out).
   */
  @Optional()
  @IsBoolean()
  readonly jwt_audience?: boolean;

  /** Only for `bearer`: callers without a token that can be forwarded reach the server without one. Otherwise they are refused. */
  @Optional()
  @IsBoolean()
  readonly allow_anonymous?: boolean;
}
