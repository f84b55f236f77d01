import { randomBytes, randomUUID } from 'node:crypto';

/** The properties with which a token is issued. */
export interface TokenGrant {
  readonly policies?: readonly string[];
  /** 0: it does not expire. */
  readonly ttlSeconds?: number;
  readonly maxTtlSeconds?: number;
  readonly renewable?: boolean;
  /** 0: unlimited uses. */
  readonly numUses?: number;
  readonly type?: 'service' | 'batch';
  readonly metadata?: Readonly<Record<string, string>> | null;
  /** Without the policy `default`, which allows a token to look itself up and to renew itself. */
  readonly noDefaultPolicy?: boolean;
}

export interface FakeToken {
  readonly id: string;
  readonly accessor: string;
  readonly namespace: string;
  readonly path: string;
  readonly policies: readonly string[];
  readonly type: 'service' | 'batch';
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly renewable: boolean;
  readonly ttlSeconds: number;
  readonly maxTtlSeconds: number;
  readonly createdAt: number;
  expiresAt: number;
  usesLeft: number | undefined;
}

const DEFAULT_MAX_TTL_SECONDS = 2_764_800;

/** The token store of the double; times in milliseconds. */
export class FakeTokens {
  private readonly tokens = new Map<string, FakeToken>();

  constructor(private readonly now: () => number) {}

  issue(namespace: string, path: string, grant: TokenGrant): FakeToken {
    const { policies = [], ttlSeconds = 1_200, type = 'service', numUses = 0 } = grant;
    const maxTtlSeconds = grant.maxTtlSeconds ?? DEFAULT_MAX_TTL_SECONDS;
    const granted = Math.min(ttlSeconds, maxTtlSeconds);
    const token: FakeToken = {
      // Vault marks service tokens with hvs. and batch tokens with hvb.
      id: `${type === 'batch' ? 'hvb' : 'hvs'}.${randomBytes(18).toString('base64url')}`,
      accessor: type === 'batch' ? '' : randomBytes(18).toString('base64url'),
      namespace,
      path,
      policies: grant.noDefaultPolicy === true ? policies : ['default', ...policies],
      type,
      metadata: grant.metadata ?? null,
      renewable: type === 'service' && grant.renewable !== false && ttlSeconds > 0,
      ttlSeconds,
      maxTtlSeconds,
      createdAt: this.now(),
      expiresAt: granted === 0 ? Infinity : this.now() + granted * 1_000,
      usesLeft: numUses === 0 ? undefined : numUses,
    };
    this.tokens.set(token.id, token);
    return token;
  }

  /** A valid token in the namespace where it was issued; a root token is valid in every namespace. */
  find(id: string | undefined, namespace: string): FakeToken | undefined {
    const token = id === undefined ? undefined : this.tokens.get(id);
    if (token === undefined || this.now() >= token.expiresAt || token.usesLeft === 0) return undefined;
    return token.namespace === namespace || token.policies.includes('root') ? token : undefined;
  }

  /** Finds a valid token as above, and counts the use. */
  use(id: string | undefined, namespace: string): FakeToken | undefined {
    const token = this.find(id, namespace);
    if (token?.usesLeft !== undefined) token.usesLeft -= 1;
    return token;
  }

  /** Renews the token and returns Vault's warnings; returns Vault's error message when it cannot. */
  renew(token: FakeToken): { readonly error: string } | { readonly warnings: readonly string[] } {
    if (token.type === 'batch') return { error: 'batch tokens cannot be renewed' };
    if (!token.renewable) return { error: 'lease is not renewable' };
    const last = token.createdAt + token.maxTtlSeconds * 1_000;
    const wanted = this.now() + token.ttlSeconds * 1_000;
    token.expiresAt = Math.min(wanted, last);
    if (wanted <= last) return { warnings: [] };
    return {
      warnings: [`TTL of "${token.ttlSeconds}s" exceeded the effective max_ttl; TTL value is capped accordingly`],
    };
  }

  revoke(id: string): void {
    this.tokens.delete(id);
  }

  revokeAll(): void {
    for (const token of this.tokens.values()) if (!token.policies.includes('root')) this.revoke(token.id);
  }

  remainingSeconds(token: FakeToken): number {
    return token.expiresAt === Infinity ? 0 : Math.ceil((token.expiresAt - this.now()) / 1_000);
  }

  /** The block `auth` of logins and renewals. */
  authBlock(token: FakeToken): object {
    return {
      client_token: token.id,
      accessor: token.accessor,
      policies: token.policies,
      token_policies: token.policies,
      metadata: token.metadata,
      lease_duration: this.remainingSeconds(token),
      renewable: token.renewable,
      entity_id: randomUUID(),
      token_type: token.type,
      orphan: true,
      mfa_requirement: null,
      num_uses: token.usesLeft ?? 0,
    };
  }

  /** The block `data` of lookup-self. */
  lookupBlock(token: FakeToken): object {
    return {
      accessor: token.accessor,
      creation_time: Math.floor(token.createdAt / 1_000),
      creation_ttl: token.ttlSeconds,
      display_name: token.path.split('/')[1] ?? 'token',
      entity_id: '',
      expire_time: token.expiresAt === Infinity ? null : new Date(token.expiresAt).toISOString(),
      explicit_max_ttl: 0,
      id: token.id,
      issue_time: new Date(token.createdAt).toISOString(),
      meta: token.metadata,
      num_uses: token.usesLeft ?? 0,
      orphan: true,
      path: token.path,
      policies: token.policies,
      renewable: token.renewable,
      ttl: this.remainingSeconds(token),
      type: token.type,
    };
  }
}
