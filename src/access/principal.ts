import type { EntityManager } from 'typeorm';
import type { McpGrants } from './mcp-grants.js';
import type { Scope } from './scopes.js';

/** The person behind a `user` key. */
export interface KeyUser {
  readonly user_id: string;
  readonly email?: string;
  readonly username?: string;
  readonly sub?: string;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Whose something is, or whose calls are meant: an organisation, or one of its workspaces. */
export type Tenant = Pick<Principal, 'organisationId' | 'workspaceId'>;

/** The authenticated caller of a request and the tenant that it acts for. */
export interface Principal {
  readonly kind: 'api_key' | 'admin_token' | 'mcp_user';
  /** Id of the API key, or subject of the token. `mcp_user`: a person who came to an MCP server with a token and no key. */
  readonly id: string;
  /** Of an API key; absent for tokens. */
  readonly name?: string;
  readonly organisationId: string;
  /** null: the whole organisation. */
  readonly workspaceId: string | null;
  readonly scopes: ReadonlySet<Scope>;
  readonly user: KeyUser | null;
  /** Laid over the client's metadata: a client cannot change it. */
  readonly enforcedMetadata: Readonly<Record<string, string>>;
  /** Where the client and the key say nothing. */
  readonly defaultMetadata: Readonly<Record<string, string>>;
  /** How its workspace keeps the bodies of calls; absent: it keeps none. */
  readonly logBodies?: BodyLogging | undefined;
  readonly rateLimits: readonly RateLimit[];
  /** The MCP servers and tools of an API key; absent: all. */
  readonly mcpGrants?: McpGrants;

  /** Of an API key. Absent where every model and virtual key may be used: for tokens. */
  readonly providerAccess?: ProviderAccess;
  /** End of the API key; null: never. Who comes with a token has none: the token ends by itself. */
  readonly expiresAt: Date | null;
  /** Runs in the transaction of a create, with the id of the new resource: for `Idempotency-Key`. */
  readonly onCreate?: (manager: EntityManager, resourceId: string) => Promise<void>;
  /** Where the request came from; read when it is needed. */
  readonly clientAddress?: string | undefined;
  /** Trace of the request in which the caller acts; absent where it is known apart from one. */
  readonly traceId?: string;
}

/** How a workspace keeps the bodies of calls beside their log. */
export interface BodyLogging {
  /** The share of the calls, over 0 up to 1. */
  readonly sampleRate: number;
  /** How many bytes of each body are kept; the rest is left out. */
  readonly maxBytes: number;
  readonly retentionDays: number;
}

/** What the calls of an API key to providers may use. */
export interface ProviderAccess {
  /** Patterns; see `allowsModel`. null: every model. */
  readonly allowedModels: readonly string[] | null;
  /** Ids; null: every virtual key that its tenant can use. */
  readonly allowedVirtualKeys: readonly string[] | null;
  /** Id of the virtual key for calls that name none; null: none. */
  readonly defaultVirtualKeyId: string | null;
}

export const RATE_LIMIT_UNITS = ['rps', 'rpm', 'rph', 'rpd'] as const;
export type RateLimitUnit = (typeof RATE_LIMIT_UNITS)[number];

/** Whose requests are counted: those of the key, of all keys of its user, or of all keys of its workspace. */
export const RATE_LIMIT_OWNERS = ['key', 'user', 'workspace'] as const;
export type RateLimitOwner = (typeof RATE_LIMIT_OWNERS)[number];

/** At most `value` requests a second, minute, hour or day. */
export interface RateLimit {
  readonly type: 'requests';
  readonly unit: RateLimitUnit;
  readonly value: number;
  /** Absent: `key`. */
  readonly per?: RateLimitOwner;
  /** The counter of the key's maker, where that has a limit of the same kind. Not shown. */
  readonly counter?: string;
}
