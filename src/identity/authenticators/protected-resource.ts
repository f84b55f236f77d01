import type { AppConfig } from '../../config/environment.js';
import type { McpServerIdentity } from '../config/identity-config.js';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** RFC 9728, section 2. */
export interface ProtectedResourceMetadata {
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  readonly bearer_methods_supported: readonly ['header'];
  readonly scopes_supported?: readonly string[];
}

type PublicAddress = Pick<AppConfig, 'MCP_PUBLIC_URL' | 'PORT'>;
type OAuthSettings = Pick<AppConfig, 'MCP_OAUTH_ISSUER' | 'MCP_OAUTH_AUTHORIZATION_SERVERS'>;

/**
 * The address of a server at the gateway, as clients type it. From the setting, never from `Host` or `X-Forwarded-*`: clients compare
 * it with the address that they typed, and it is the audience of their tokens.
 * @param path with its leading slash
 */
export function resourceAt(path: string, { MCP_PUBLIC_URL: origin, PORT: port }: PublicAddress): string {
  return new URL(origin ?? `http://localhost:${port}`).origin + path;
}

/** RFC 9728, section 3: the well-known part stands between the origin and the path of the resource. */
export function resourceMetadataUrl(resource: string): string {
  const { origin, pathname } = new URL(resource);
  return origin + WELL_KNOWN + pathname;
}

/** The gateway's own setting; empty when there is none. */
export function ownAuthorizationServers({
  MCP_OAUTH_ISSUER: issuer,
  MCP_OAUTH_AUTHORIZATION_SERVERS: listed,
}: OAuthSettings): readonly string[] {
  return listed.length > 0 || issuer === undefined ? listed : [issuer];
}

/**
 * Where users of a server log in: its own identity provider first, if it names that by its issuer. Empty when there is nowhere to
 * log in, because the server accepts keys only.
 */
export function authorizationServers(
  { jwtValidation }: Pick<McpServerIdentity, 'jwtValidation'>,
  settings: OAuthSettings,
): readonly string[] {
  const own = ownAuthorizationServers(settings);
  // A client that follows the MCP specification sends tokens in no other header.
  const isUsual = jwtValidation?.headerKey === 'authorization';
  const external = isUsual && jwtValidation.issuer !== undefined && URL.canParse(jwtValidation.issuer);
  const first = external && jwtValidation.issuer !== undefined ? [jwtValidation.issuer] : [];
  // Tokens of the gateway's authorization server are refused where the company's own are required.
  return jwtValidation?.isRequired === true ? first : [...new Set([...first, ...own])];
}
