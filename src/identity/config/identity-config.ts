import type { SignatureAlgorithm } from '../../common/crypto/signature-algorithms.js';

export const FORWARDING_METHODS = ['claims_header', 'bearer', 'jwt_header'] as const;
export type ForwardingMethod = (typeof FORWARDING_METHODS)[number];

export const FORWARD_MODES = ['all-except', 'allowlist'] as const;

/** How the user's identity is forwarded to a server. */
export interface UserIdentityForwarding {
  readonly method: ForwardingMethod;
  readonly include_claims?: readonly string[] | undefined;
  readonly header_name?: string | undefined;
  /** Only for `jwt_header`; default 300. */
  readonly jwt_expiry_seconds?: number | undefined;
  /** `aud` of the token: with it, a server cannot replay the token at another one. */
  readonly audience?: string | undefined;
  /** Only for `jwt_header`: `aud` (by default the server's URL), `org` and `auth_method` are in the token. */
  readonly jwt_audience?: boolean | undefined;
  /** Only for `bearer`: callers without a token that can be forwarded reach the server without one. */
  readonly allow_anonymous?: boolean | undefined;
}

const DEFAULT_HEADER_NAMES: Readonly<Record<ForwardingMethod, string>> = {
  claims_header: 'X-User-Claims',
  bearer: 'Authorization',
  jwt_header: 'X-User-JWT',
};

/** The name under which a forwarding writes the identity. */
export function identityHeaderName(forwarding: Pick<UserIdentityForwarding, 'method' | 'header_name'>): string {
  return forwarding.header_name ?? DEFAULT_HEADER_NAMES[forwarding.method];
}

/** Which of the client's other headers are forwarded. */
export interface ForwardHeaders {
  readonly mode: (typeof FORWARD_MODES)[number];
  readonly headers: readonly string[];
}

/** RFC 7662. */
export interface Introspection {
  readonly endpoint: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** How long an answer is cached. */
  readonly cacheSeconds: number;
}

/** `fresh`: read again, unless it was read moments ago. */
export type Freshness = 'cached' | 'fresh';

export type ReadSecret = (freshness: Freshness) => Promise<string>;

/** Introspection settings whose client secret may come from a secret reference, read when it is needed. */
export interface ConfiguredIntrospection extends Omit<Introspection, 'clientSecret'> {
  readonly clientSecret: string | ReadSecret;
}

/** How tokens of an identity provider are validated, for both spellings of the API. */
export interface JwtValidation {
  readonly jwksUri?: string | undefined;
  readonly introspection?: ConfiguredIntrospection | undefined;
  readonly requiredClaims: readonly string[];
  readonly claimValues: Readonly<Record<string, readonly string[]>>;
  readonly issuer?: string | undefined;
  readonly audience?: readonly string[] | undefined;
  readonly algorithms: readonly SignatureAlgorithm[];
  readonly clockToleranceSeconds: number;
  /** Header of the user's token, in lower case. */
  readonly headerKey: string;
  /** Whether every caller needs such a token: a key alone, or a token of another authority, is refused. */
  readonly isRequired: boolean;
  /** Whether anyone may learn the issuer from the server's metadata, and so that the server exists. */
  readonly isAdvertised: boolean;
}

/** `jwt_validation` as the wire spells it; `jwksUri` and `requiredClaims` have two spellings. */
export interface JwtValidationFields {
  readonly jwksUri?: string | undefined;
  readonly jwks_uri?: string | undefined;
  readonly requiredClaims?: readonly string[] | undefined;
  readonly required_claims?: readonly string[] | undefined;
  readonly issuer?: string | undefined;
  readonly audience?: string | readonly string[] | undefined;
  readonly algorithms?: readonly SignatureAlgorithm[] | undefined;
  readonly clock_tolerance_seconds?: number | undefined;
  readonly header_key?: string | undefined;
  readonly claim_values?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly introspection?: IntrospectionFields | undefined;
  readonly required?: boolean | undefined;
  readonly advertise_issuer?: boolean | undefined;
}

export interface IntrospectionFields {
  readonly endpoint: string;
  readonly client_id: string;
  /** Undefined when it comes from a secret reference. */
  readonly client_secret?: string | undefined;
  readonly cache_seconds?: number | undefined;
}

/** The identity fields of an MCP server, as in a request of the API. */
export interface IdentityFields {
  readonly user_identity_forwarding?: UserIdentityForwarding | null | undefined;
  readonly jwt_validation?: JwtValidationFields | null | undefined;
  readonly forward_headers?: ForwardHeaders | null | undefined;
}

/** The identity settings of an MCP server. */
export interface McpServerIdentity {
  readonly id: string;
  readonly organisationId: string;
  /** null: a server of the whole organisation. */
  readonly workspaceId: string | null;
  /** Public address of the server at the gateway, as clients type it: the audience of their tokens (RFC 8707). */
  readonly resource: string;
  readonly userIdentityForwarding?: UserIdentityForwarding | undefined;
  readonly jwtValidation?: JwtValidation | undefined;
  readonly forwardHeaders?: ForwardHeaders | undefined;
}
