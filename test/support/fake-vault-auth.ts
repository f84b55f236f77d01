import { jwtVerify, type CryptoKey, type JWTPayload } from 'jose';
import { isObject, type JsonObject } from '../../src/common/json/read.js';
import type { TokenGrant } from './fake-vault-tokens.js';

/** The properties of the token of a login, or Vault's refusal. */
export type LoginOutcome =
  { readonly grant: TokenGrant } | { readonly status: number; readonly errors: readonly string[] };

export interface FakeAuthMethod {
  login(body: JsonObject, now: Date): Promise<LoginOutcome> | LoginOutcome;
}

const NO_PERMISSION: LoginOutcome = { status: 403, errors: ['permission denied'] };

function badRequest(error: string): LoginOutcome {
  return { status: 400, errors: [error] };
}

interface AppRole {
  readonly grant: TokenGrant;
  /** Remaining uses of each secret id. */
  readonly secretIds: Map<string, number>;
}

export class FakeAppRole implements FakeAuthMethod {
  private readonly roles = new Map<string, AppRole>();

  /** @param secretIdNumUses 0: unlimited */
  addRole(roleId: string, secretId: string, grant: TokenGrant, secretIdNumUses = 0): void {
    const uses = secretIdNumUses === 0 ? Infinity : secretIdNumUses;
    this.roles.set(roleId, { grant, secretIds: new Map([[secretId, uses]]) });
  }

  login({ role_id, secret_id }: JsonObject): LoginOutcome {
    if (typeof role_id !== 'string' || role_id === '') return badRequest('missing role_id');
    if (typeof secret_id !== 'string' || secret_id === '') return badRequest('missing secret_id');
    const role = this.roles.get(role_id);
    const uses = role?.secretIds.get(secret_id) ?? 0;
    if (role === undefined || uses === 0) return badRequest('invalid role or secret ID');
    role.secretIds.set(secret_id, uses - 1);
    return { grant: role.grant };
  }
}

interface JwtRole {
  readonly audience: string;
  readonly subject?: string;
  readonly grant: TokenGrant;
}

export class FakeJwt implements FakeAuthMethod {
  private readonly roles = new Map<string, JwtRole>();

  constructor(private readonly publicKey: CryptoKey) {}

  addRole(name: string, role: JwtRole): void {
    this.roles.set(name, role);
  }

  async login({ role: name, jwt }: JsonObject, now: Date): Promise<LoginOutcome> {
    if (typeof jwt !== 'string' || jwt === '') return badRequest('missing token');
    const role = typeof name === 'string' ? this.roles.get(name) : undefined;
    if (role === undefined) return badRequest(`role "${String(name)}" could not be found`);
    const { audience, subject } = role;
    const claims = await verify(jwt, this.publicKey, now, subject === undefined ? { audience } : { audience, subject });
    if (claims === undefined) return badRequest('error validating token: error verifying token');
    return { grant: { ...role.grant, metadata: { role: String(name) } } };
  }
}

interface KubernetesRole {
  readonly serviceAccount: string;
  readonly namespace: string;
  readonly audience?: string;
  readonly grant: TokenGrant;
}

export class FakeKubernetes implements FakeAuthMethod {
  private readonly roles = new Map<string, KubernetesRole>();

  constructor(private readonly publicKey: CryptoKey) {}

  addRole(name: string, role: KubernetesRole): void {
    this.roles.set(name, role);
  }

  async login({ role: name, jwt }: JsonObject, now: Date): Promise<LoginOutcome> {
    if (typeof jwt !== 'string' || jwt === '') return badRequest('missing jwt');
    const role = typeof name === 'string' ? this.roles.get(name) : undefined;
    if (role === undefined) return badRequest(`invalid role name "${String(name)}"`);
    const { audience } = role;
    const claims = await verify(jwt, this.publicKey, now, audience === undefined ? {} : { audience });
    if (claims === undefined) return NO_PERMISSION;
    const about = isObject(claims['kubernetes.io']) ? claims['kubernetes.io'] : {};
    const account = isObject(about['serviceaccount']) ? about['serviceaccount'] : {};
    if (about['namespace'] !== role.namespace) return { status: 403, errors: ['namespace not authorized'] };
    if (account['name'] !== role.serviceAccount)
      return { status: 403, errors: ['service account name not authorized'] };
    const metadata = {
      role: String(name),
      service_account_name: role.serviceAccount,
      service_account_namespace: role.namespace,
      service_account_secret_name: '',
      service_account_uid: String(account['uid']),
    };
    return { grant: { ...role.grant, metadata } };
  }
}

async function verify(
  jwt: string,
  key: CryptoKey,
  currentDate: Date,
  claims: { readonly audience?: string; readonly subject?: string },
): Promise<JWTPayload | undefined> {
  try {
    return (await jwtVerify(jwt, key, { ...claims, currentDate, requiredClaims: ['sub', 'exp'] })).payload;
  } catch {
    return undefined;
  }
}
