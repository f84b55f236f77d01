import { IsString, Matches } from 'class-validator';
import { ToList } from '../common/validation/conversion.decorators.js';
import { IdentitySettings } from './identity-settings.js';
import { IsWebAddress, OptionalSetting } from './setting.decorators.js';

/** `<group>=<role>@<organisation>`, or `@<organisation>/<workspace>`, with slugs. */
const GROUP_ROLE = /^.+=(?:owner|admin|member|auditor)@[\w-]{1,255}(?:\/[\w-]{1,255})?$/;

/** Settings of administrators who come with a token of an OpenID Connect provider, or log in there with a browser. */
export class AdministratorSettings extends IdentitySettings {
  @OptionalSetting()
  @IsWebAddress()
  readonly ADMIN_OIDC_ISSUER?: string;

  @OptionalSetting()
  @IsString()
  readonly ADMIN_OIDC_AUDIENCE?: string;

  @OptionalSetting()
  @IsWebAddress()
  readonly ADMIN_OIDC_JWKS_URI?: string;

  /** Claim that names the organisations (ids) that the administrator acts for: a string or an array. */
  @IsString()
  readonly ADMIN_OIDC_ORGANISATION_CLAIM: string = 'organisation_id';

  /** Claim that holds the administrator's scopes: a space-separated string or an array. */
  @IsString()
  readonly ADMIN_OIDC_SCOPE_CLAIM: string = 'scope';

  /** The client that browsers log in with at ADMIN_OIDC_ISSUER. Absent: the console takes API keys only. */
  @OptionalSetting()
  @IsString()
  readonly ADMIN_OIDC_CLIENT_ID?: string;

  /** Absent: a public client, which has PKCE alone. */
  @OptionalSetting()
  @IsString()
  readonly ADMIN_OIDC_CLIENT_SECRET?: string;

  /** What a log-in requests; it must include `openid`. */
  @Matches(/^(?:[\x21\x23-\x5b\x5d-\x7e]+ )*openid(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/, {
    message: '$property must be scopes separated by spaces, one of them openid',
  })
  readonly ADMIN_OIDC_LOGIN_SCOPE: string = 'openid profile email';

  /** Claim with the groups of who logs in: an array, or a string with spaces. In the ID token, or else at the userinfo endpoint. */
  @IsString()
  readonly ADMIN_OIDC_GROUPS_CLAIM: string = 'groups';

  /** What each group may do, and where. */
  @ToList()
  @Matches(GROUP_ROLE, {
    each: true,
    message: '$property must list <group>=<owner, admin, member or auditor>@<organisation>[/<workspace>]',
  })
  readonly ADMIN_OIDC_ROLES: readonly string[] = [];
}

/** What is wrong with settings that are each right for themselves. */
export function administratorProblems(
  settings: AdministratorSettings & { readonly PUBLIC_URL?: string },
): readonly string[] {
  const { ADMIN_OIDC_ISSUER: issuer, ADMIN_OIDC_CLIENT_ID: clientId } = settings;
  const problems: string[] = [];
  const tokens = [settings.ADMIN_OIDC_AUDIENCE, settings.ADMIN_OIDC_JWKS_URI];
  const hasTokens = tokens.some((value) => value !== undefined);
  const isHalf = hasTokens && (issuer === undefined || tokens.includes(undefined));
  if (isHalf || (issuer !== undefined && !hasTokens && clientId === undefined)) {
    problems.push('ADMIN_OIDC_ISSUER, ADMIN_OIDC_AUDIENCE and ADMIN_OIDC_JWKS_URI go together: set all three or none');
  }
  if (clientId === undefined) return problems;
  if (issuer === undefined) problems.push('ADMIN_OIDC_ISSUER is required with ADMIN_OIDC_CLIENT_ID');
  if (settings.PUBLIC_URL === undefined) {
    problems.push('PUBLIC_URL is required with ADMIN_OIDC_CLIENT_ID: browsers come back there');
  }
  if (settings.ADMIN_OIDC_ROLES.length === 0) {
    problems.push('ADMIN_OIDC_ROLES is required with ADMIN_OIDC_CLIENT_ID: without a role no one can log in');
  }
  return problems;
}
