import { ArrayMaxSize, IsString, Matches, ValidateBy, type ValidationArguments } from 'class-validator';
import { readRsaPrivateKey, readRsaPublicKeys } from '../common/crypto/rsa-pem.js';
import { ToList } from '../common/validation/conversion.decorators.js';
import { IsWebAddress, OptionalSetting } from './setting.decorators.js';

/** Settings of the MCP gateway: who its users are, and how servers receive their identity. */
export class IdentitySettings {
  /** Signs the identity of MCP users (`jwt_header`): an RSA private key in PEM, line breaks also as `\\n`, or base64 of it. */
  @OptionalSetting()
  @ReadableBy(readRsaPrivateKey)
  readonly JWT_PRIVATE_KEY?: string;

  /** Public keys in PEM that signed before; they stay in the key set until their last tokens have expired. */
  @OptionalSetting()
  @ReadableBy(readRsaPublicKeys)
  readonly JWT_PUBLIC_KEYS_PREVIOUS?: string;

  /** Public keys in PEM that will sign soon: published ahead, so that servers know them when they do. */
  @OptionalSetting()
  @ReadableBy(readRsaPublicKeys)
  readonly JWT_PUBLIC_KEYS_NEXT?: string;

  /** Origin at which MCP clients reach the gateway. Absent: http://localhost and the port. */
  @OptionalSetting()
  @IsWebAddress()
  @Matches(/^https?:\/\/[^/?#@]+\/?$/i, { message: '$property must be an origin, without path, query or user' })
  readonly MCP_PUBLIC_URL?: string;

  /** Bind MCP sessions to their users; the first one binds, the others still open. Absent: one is made for the database. */
  @ToList()
  @ArrayMaxSize(16)
  @Matches(/^[\x21-\x7e]{32,}$/, { each: true, message: '$property must list secrets of at least 32 characters' })
  readonly MCP_SESSION_SECRETS: readonly string[] = [];

  /** Authorization server whose tokens open MCP servers; they have to be issued for the address of the server (RFC 8707). */
  @OptionalSetting()
  @IsWebAddress()
  readonly MCP_OAUTH_ISSUER?: string;

  @OptionalSetting()
  @IsWebAddress()
  readonly MCP_OAUTH_JWKS_URI?: string;

  /** For tokens that are not JWTs (RFC 7662). */
  @OptionalSetting()
  @IsWebAddress()
  readonly MCP_OAUTH_INTROSPECTION_ENDPOINT?: string;

  @OptionalSetting()
  @IsString()
  readonly MCP_OAUTH_INTROSPECTION_CLIENT_ID?: string;

  @OptionalSetting()
  @IsString()
  readonly MCP_OAUTH_INTROSPECTION_CLIENT_SECRET?: string;

  /** Where clients are sent to log in. Empty: the issuer. */
  @ToList()
  @IsWebAddress({ each: true })
  readonly MCP_OAUTH_AUTHORIZATION_SERVERS: readonly string[] = [];

  /** Scopes that a token needs, all of them. */
  @ToList()
  @Matches(/^[\x21\x23-\x5b\x5d-\x7e]+$/, { each: true, message: '$property must list OAuth scopes' })
  readonly MCP_OAUTH_SCOPES: readonly string[] = [];

  /** Claim that names the organisations (ids) that the user may act for: a string or an array. */
  @IsString()
  readonly MCP_OAUTH_ORGANISATION_CLAIM: string = 'organisation_id';

  /** Claim that names the workspaces (ids). A token without it acts for the whole organisation. */
  @IsString()
  readonly MCP_OAUTH_WORKSPACE_CLAIM: string = 'workspace_id';
}

export function oauthProblems(settings: IdentitySettings): readonly string[] {
  const { MCP_OAUTH_ISSUER: issuer, MCP_OAUTH_JWKS_URI: jwks } = settings;
  const introspection = [
    settings.MCP_OAUTH_INTROSPECTION_ENDPOINT,
    settings.MCP_OAUTH_INTROSPECTION_CLIENT_ID,
    settings.MCP_OAUTH_INTROSPECTION_CLIENT_SECRET,
  ];
  const problems: string[] = [];
  const hasIntrospection = introspection.some((value) => value !== undefined);
  if (hasIntrospection && introspection.includes(undefined)) {
    problems.push(
      'MCP_OAUTH_INTROSPECTION_ENDPOINT, MCP_OAUTH_INTROSPECTION_CLIENT_ID and MCP_OAUTH_INTROSPECTION_CLIENT_SECRET go together: set all three or none',
    );
  }
  if ((issuer === undefined) !== (jwks === undefined && !hasIntrospection)) {
    problems.push('MCP_OAUTH_ISSUER needs MCP_OAUTH_JWKS_URI or MCP_OAUTH_INTROSPECTION_ENDPOINT, and they need it');
  }
  if (issuer !== undefined && settings.MCP_PUBLIC_URL === undefined) {
    problems.push('MCP_PUBLIC_URL is required with MCP_OAUTH_ISSUER: tokens are issued for addresses under it');
  }
  return problems;
}

/** For text that a reader can judge better than a pattern: the reader's message is the complaint. It must not name the text. */
function ReadableBy(read: (text: string) => unknown): PropertyDecorator {
  const complaintAbout = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return 'must be a string';
    try {
      read(value);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : 'cannot be read';
    }
  };
  return ValidateBy({
    name: 'readableBy',
    validator: {
      validate: (value: unknown) => complaintAbout(value) === undefined,
      defaultMessage: (args?: ValidationArguments) => `$property ${complaintAbout(args?.value) ?? 'cannot be read'}`,
    },
  });
}
