// A double of HashiCorp Vault and OpenBao: key/value engines, tokens, policies, three auth methods, namespaces.
// Sources: https://openbao.org/api-docs and the source of openbao/openbao (builtin/logical/kv), read 2026-11-21.
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject, type JsonObject } from '../../src/common/json/read.js';
import type { TestCertificate } from '../../src/upstream/__fixtures__/certificate.js';
import { startHttp, startHttps, type Loopback } from '../../src/upstream/__fixtures__/loopback.js';
import type { FakeAuthMethod } from './fake-vault-auth.js';
import type { EngineReply, FakeEngine } from './fake-vault-kv.js';
import { DEFAULT_POLICY, isAllowed, seesMount, type Capability, type PolicyRules } from './fake-vault-policies.js';
import { FakeTokens, type FakeToken, type TokenGrant } from './fake-vault-tokens.js';

/** One request as it reached the double. */
export interface VaultCall {
  readonly method: string;
  /** Decoded, after `/v1/`, without the query. */
  readonly path: string;
  readonly namespace: string;
  readonly token: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: JsonObject;
  readonly status: number | undefined;
}

/** Faults of the whole server. `silent` never answers. */
export type VaultFault = 'sealed' | 'lagging' | 'throttled' | 'broken' | 'redirect' | 'html' | 'silent';

const JSON_TYPE = { 'content-type': 'application/json' };
const FAULTS: Readonly<Record<Exclude<VaultFault, 'silent'>, readonly [number, Record<string, string>, string]>> = {
  sealed: [503, JSON_TYPE, '{"errors":["Vault is sealed"]}'],
  lagging: [412, JSON_TYPE, '{"errors":["required index state not present"]}'],
  throttled: [429, JSON_TYPE, '{"errors":["request path \\"secret/\\": rate limit quota exceeded"]}'],
  broken: [500, JSON_TYPE, '{"errors":["1 error occurred:\\n\\t* internal error\\n\\n"]}'],
  redirect: [307, { location: 'http://169.254.169.254/v1/sys/leader' }, ''],
  html: [200, { 'content-type': 'text/html' }, '<html><body>Sign in</body></html>'],
};
const PERMISSION_DENIED: EngineReply = { status: 403, errors: ['1 error occurred:\n\t* permission denied\n\n'] };
const INVALID_TOKEN: EngineReply = {
  status: 403,
  errors: ['2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n'],
};
const CAPABILITIES: Readonly<Record<string, Capability>> = {
  GET: 'read',
  LIST: 'list',
  DELETE: 'delete',
  POST: 'update',
  PUT: 'update',
};
const PROBE = 'sys/internal/ui/mounts/';

/** The mounts, policies and tokens of one namespace, which other namespaces cannot see. */
export class FakeNamespace {
  readonly mounts = new Map<string, FakeEngine>();
  readonly authMethods = new Map<string, FakeAuthMethod>();
  private readonly policies = new Map<string, PolicyRules>([['default', DEFAULT_POLICY]]);

  constructor(
    readonly name: string,
    private readonly tokens: FakeTokens,
  ) {}

  /** `path` has one or more segments and no slash at its end. Mounts cannot be nested. */
  mount<Engine extends FakeEngine>(path: string, engine: Engine): Engine {
    const [taken] = [...this.mounts.keys()].filter(
      (other) => other.startsWith(`${path}/`) || `${path}/`.startsWith(other),
    );
    if (taken !== undefined) throw new Error(`existing mount at ${taken}`);
    this.mounts.set(`${path}/`, engine);
    return engine;
  }

  enableAuth<Method extends FakeAuthMethod>(path: string, method: Method): Method {
    this.authMethods.set(path, method);
    return method;
  }

  writePolicy(name: string, rules: PolicyRules): void {
    this.policies.set(name, rules);
  }

  createToken(grant: TokenGrant): string {
    return this.tokens.issue(this.name, 'auth/token/create', grant).id;
  }

  rulesOf(token: FakeToken): readonly PolicyRules[] {
    return token.policies.map((name) => this.policies.get(name)).filter((rules) => rules !== undefined);
  }

  mountOf(path: string): readonly [string, FakeEngine] | undefined {
    return [...this.mounts].find(([mount]) => `${path}/`.startsWith(mount));
  }
}

export class FakeVault {
  readonly calls: readonly VaultCall[];
  readonly root: FakeNamespace;
  readonly rootToken: string;
  readonly tokens: FakeTokens;
  /** Refuses lookups of mounts, as behind a proxy that allows only some paths. */
  hidesMounts = false;
  private readonly noted: VaultCall[] = [];
  private readonly namespaces = new Map<string, FakeNamespace>();
  private fault: { readonly kind: VaultFault; times: number; readonly on: RegExp } | undefined;
  private server: Loopback | undefined;

  constructor(private readonly now: () => number) {
    this.calls = this.noted;
    this.tokens = new FakeTokens(now);
    this.root = this.namespace('');
    this.rootToken = this.tokens.issue('', 'auth/token/root', { policies: ['root'], ttlSeconds: 0 }).id;
  }

  /** The address for clients. With a certificate it uses TLS for that certificate's host. */
  get addr(): string {
    if (this.server === undefined) throw new Error('the double does not listen');
    return this.server.origin.replace('https://127.0.0.1', 'https://localhost');
  }

  async listen(certificate?: TestCertificate): Promise<void> {
    const listener = (request: IncomingMessage, response: ServerResponse): void => void this.answer(request, response);
    this.server = certificate === undefined ? await startHttp(listener) : await startHttps(certificate, listener);
  }

  async close(): Promise<void> {
    await this.server?.close();
  }

  namespace(name: string): FakeNamespace {
    const known = this.namespaces.get(name) ?? new FakeNamespace(name, this.tokens);
    this.namespaces.set(name, known);
    return known;
  }

  /** Simulates a fault for the next `times` requests whose path matches. */
  fail(kind: VaultFault, { times = Infinity, on = /^/ }: { readonly times?: number; readonly on?: RegExp } = {}): void {
    this.fault = { kind, times, on };
  }

  heal(): void {
    this.fault = undefined;
  }

  /** The requested paths, in order. */
  paths(): readonly string[] {
    return this.noted.map(({ path }) => path);
  }

  forget(): void {
    this.noted.length = 0;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request);
    const url = new URL(request.url ?? '/', 'http://vault');
    const path = decodeURIComponent(url.pathname).replace(/^\/v1\//, '');
    const token = headerOf(request, 'x-vault-token') ?? headerOf(request, 'authorization')?.replace(/^Bearer /, '');
    const namespace = (headerOf(request, 'x-vault-namespace') ?? '').replace(/^\/|\/$/g, '');
    const call = { method: request.method ?? '', path, namespace, token, headers: request.headers, body };
    const index = this.noted.push({ ...call, status: undefined }) - 1;
    const fault = this.takeFault(path);
    if (fault === 'silent') return;
    const reply =
      fault === undefined ? await this.reply(call, Number(url.searchParams.get('version') ?? 0)) : undefined;
    const [status, headers, text] = fault === undefined ? wire(reply) : FAULTS[fault];
    this.noted[index] = { ...call, status };
    response.writeHead(status, headers).end(text);
  }

  private takeFault(path: string): VaultFault | undefined {
    const { fault } = this;
    if (fault === undefined || fault.times === 0 || !fault.on.test(path)) return undefined;
    fault.times -= 1;
    return fault.kind;
  }

  private async reply(call: Omit<VaultCall, 'status'>, version: number): Promise<EngineReply | object> {
    const { method, path, token: id, body } = call;
    if (path === 'sys/health') return { initialized: true, sealed: false, standby: false };
    const namespace = this.namespaces.get(call.namespace);
    const login = /^auth\/(.+)\/login$/.exec(path);
    const authMethod = login === null ? undefined : namespace?.authMethods.get(login[1] ?? '');
    if (namespace === undefined || (login !== null && authMethod === undefined)) return noRoute(path);
    if (authMethod !== undefined) {
      const outcome = await authMethod.login(body, new Date(this.now()));
      if (!('grant' in outcome)) return outcome;
      return this.authReply(this.tokens.issue(namespace.name, path, outcome.grant));
    }
    if (path.startsWith(PROBE)) return this.probe(namespace, id, path.slice(PROBE.length));
    if (id === undefined) return { status: 403, errors: ['permission denied'] };
    const token = this.tokens.use(id, namespace.name);
    if (token === undefined) return INVALID_TOKEN;
    const isRoot = token.policies.includes('root');
    if (!isRoot && !isAllowed(namespace.rulesOf(token), path, CAPABILITIES[method] ?? 'deny')) return PERMISSION_DENIED;
    if (path.startsWith('auth/token/')) return this.tokenReply(namespace, token, path, body);
    const mounted = namespace.mountOf(path);
    if (mounted === undefined) return noRoute(path);
    return mounted[1].handle({ method, name: path.slice(mounted[0].length), version, body });
  }

  private tokenReply(namespace: FakeNamespace, token: FakeToken, path: string, body: JsonObject): EngineReply | object {
    switch (path) {
      case 'auth/token/lookup-self':
        return { status: 200, data: this.tokens.lookupBlock(token) };
      case 'auth/token/revoke-self':
        this.tokens.revoke(token.id);
        return { status: 204 };
      case 'auth/token/create': {
        const policies = Array.isArray(body['policies']) ? body['policies'].map(String) : [];
        return this.authReply(
          this.tokens.issue(namespace.name, path, { policies, numUses: Number(body['num_uses'] ?? 0) }),
        );
      }
      case 'auth/token/renew-self': {
        const outcome = this.tokens.renew(token);
        if ('error' in outcome) return { status: 400, errors: [outcome.error] };
        return this.authReply(token, outcome.warnings);
      }
      default:
        return noRoute(path);
    }
  }

  private authReply(token: FakeToken, warnings: readonly string[] = []): object {
    return { ...envelope({ status: 200, warnings }), auth: this.tokens.authBlock(token) };
  }

  /** Requires a right somewhere in the mount. Vault does not count it as a use of the token. */
  private probe(namespace: FakeNamespace, id: string | undefined, path: string): EngineReply {
    const token = this.tokens.find(id, namespace.name);
    if (this.hidesMounts || (id !== undefined && token === undefined)) {
      return { status: 403, errors: ['permission denied'] };
    }
    const mounted = namespace.mountOf(path);
    const isRoot = token?.policies.includes('root') === true;
    if (mounted === undefined || token === undefined || !(isRoot || seesMount(namespace.rulesOf(token), mounted[0]))) {
      const advice = `please ensure client's policies grant access to path "${path}/"`;
      return { status: 403, errors: [`preflight capability check returned 403, ${advice}`] };
    }
    const [mount, { type, options }] = mounted;
    const accessor = `${type}_f1c0ffee`;
    return {
      status: 200,
      data: { accessor, config: {}, description: '', local: false, options, path: mount, type, uuid: randomUUID() },
    };
  }
}

function wire(reply: EngineReply | object | undefined): readonly [number, Record<string, string>, string] {
  if (!isReply(reply)) return [200, JSON_TYPE, JSON.stringify(reply)];
  if (reply.status === 204) return [204, {}, ''];
  const body = reply.errors === undefined ? envelope(reply) : { errors: reply.errors };
  return [reply.status, JSON_TYPE, JSON.stringify(body)];
}

function isReply(reply: EngineReply | object | undefined): reply is EngineReply {
  return isObject(reply) && typeof reply['status'] === 'number';
}

function envelope({ data = null, leaseSeconds = 0, leaseId = '', warnings = [] }: EngineReply): object {
  return {
    request_id: randomUUID(),
    lease_id: leaseId,
    renewable: false,
    lease_duration: leaseSeconds,
    data,
    wrap_info: null,
    warnings: warnings.length === 0 ? null : warnings,
    auth: null,
  };
}

function noRoute(path: string): EngineReply {
  return { status: 404, errors: [`no handler for route "${path}". route entry not found.`] };
}

function headerOf(request: IncomingMessage, name: string): string | undefined {
  const value = request.headers[name];
  return typeof value === 'string' ? value : undefined;
}

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  const value: unknown = text === '' ? {} : JSON.parse(text);
  return isObject(value) ? value : {};
}
