import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES } from '../src/access/scopes.js';
import { readString } from '../src/common/json/read.js';
import { RequestLogRecorder } from '../src/request-logs/request-log.recorder.js';
import { GatewayClient } from './support/gateway-client.js';
import { addressesOf, fill, type Route, routesOf } from './support/routes.js';
import { type Answer, errorIn, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { addTenant, type Tenant } from './support/tenants.js';

/** The pages of the documentation and of the console, which have no controllers. */
const DOCUMENTATION = /^\/(?:docs|console)(\/|$)/;
const PUBLIC = [
  'GET /',
  'GET /.well-known/jwks.json',
  'GET /health/live',
  'GET /health/ready',
  'GET /metrics',
  'GET /v1/login',
];
/** For browsers at the identity provider: see login.app.spec.ts. */
const REDIRECTS = ['GET /v1/login/oidc', 'GET /v1/login/oidc/callback'];
/** Where MCP clients look for an authorization server: see mcp-strangers.once.spec.ts. */
const LOGIN_METADATA = ['oauth-authorization-server', 'openid-configuration'].flatMap((name) => [
  `/.well-known/${name}`,
  `/.well-known/${name}/*path`,
]);
const LOGIN = [
  'authorize',
  'device_authorization',
  'introspect',
  'oauth/*path',
  'par',
  'register',
  'revoke',
  'token',
  'userinfo',
].map((path) => `/${path}`);
const NO_LOGIN = [
  ...LOGIN.flatMap((path) => [`GET ${path}`, `POST ${path}`]),
  ...LOGIN_METADATA.map((path) => `GET ${path}`),
  ...[...LOGIN, ...LOGIN_METADATA].map((path) => `OPTIONS ${path}`),
];
/** Scopes that no route declares: they depend on what a request contains, or on who calls an MCP server. */
const ASKED_ELSEWHERE = ['identities.assert', 'mcp.invoke', 'secret_references.use'];
/** Areas whose objects, including their ids, belong to the provider: see relay-routes.once.spec.ts. */
const RELAYED =
  /^\/(?:v1\/(?:assistants|batches|files|fine_tuning|responses|threads|uploads|vector_stores)|(?:openai\/v1\/)?responses)(?:\/|$)/;
/** Names of models are not references: see model-routes.app.spec.ts. */
const MODELS = /^\/(?:v1\/models|model|v1(?:beta1)?\/(?:projects|publishers))\//;
/** Addresses of MCP servers, which speak JSON-RPC and authenticate callers themselves: see mcp-gateway.app.spec.ts. */
const MCP = /^\/(?:\.well-known\/oauth-protected-resource\/)?:/;
/** The gateway streams these bodies without reading them. */
const STREAMED: ReadonlySet<string> = new Set(['POST /v1/files', 'POST /v1/uploads/:upload_id/parts']);
/** Query parameters that a route validates before it looks for the resource. */
const BODIES: Readonly<Record<string, object>> = {
  'PUT /v1/mcp-servers/:ref/tools': { tools: [{ name: 'search', enabled: false }] },
};
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
const JUNK = ['nobody', '0', 'null', '-', '%00', '..%2f..', "'%20OR%201=1%20--", '%F0%9F%98%80', 'x'.repeat(300)];

let gateway: TestApp;
let admin: GatewayClient;
let other: Tenant;
let routes: readonly Route[];
let guarded: readonly Route[];
let withReference: readonly Route[];
/** Foreign resources by the path of their collection. */
let foreign: ReadonlyMap<string, readonly string[]>;
/** For each scope, a key that has every other scope. */
const lacking = new Map<string, GatewayClient>();

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  other = await addTenant(gateway, 'other');
  routes = routesOf(gateway.app);
  const others = routes.filter((route) => !MCP.test(route.path));
  guarded = others.filter((route) => route.scope !== undefined);
  withReference = guarded.filter(
    (route) => route.path.includes('/:') && !RELAYED.test(route.path) && !MODELS.test(route.path),
  );
  const [workspace, virtualKey, secretReference, webhook, price, policy, mcpServer, { id: apiKey }] = await Promise.all(
    [
      other.client.create('/v1/workspaces', { name: 'Foreign', slug: 'foreign-workspace' }),
      other.client.create('/v1/virtual-keys', { name: 'Foreign', slug: 'foreign-key', provider: 'local' }),
      other.client.create('/v1/secret-references', {
        name: 'Foreign',
        slug: 'foreign-reference',
        manager_type: 'vendorC_vault',
        auth_config: { vendorC_auth_type: 'token', vendorC_addr: 'https://vault.example.com', vendorC_token: 'token' },
        secret_path: 'secret/foreign',
      }),
      other.client.create('/v1/webhooks', { url: 'https://hooks.example.com', events: ['*'] }),
      other.client.create('/v1/prices', { provider: 'cohere', model: '*', unit: 'request', price: '1' }),
      other.client.create('/v1/policies/usage-limits', {
        name: 'Foreign',
        conditions: [{ key: 'model', value: '*' }],
        group_by: [{ key: 'api_key' }],
        type: 'cost',
        credit_limit: 1,
      }),
      other.client.create('/v1/mcp-servers', {
        name: 'Foreign',
        slug: 'foreign-server',
        url: 'https://mcp.example.com',
      }),
      other.client.createKey({ scopes: ['api_keys.read'] }),
    ],
  );
  const modelRoute = await other.client.create('/v1/model-routes', {
    name: 'foreign',
    slug: 'foreign-route',
    targets: [{ virtual_key: 'foreign-key', model: 'bm25' }],
  });
  const call = { model: 'bm25', query: 'q', documents: ['d'] };
  await other.client.post('/v1/rerank', call, { 'x-gateway-virtual-key': 'foreign-key' });
  await gateway.app.get(RequestLogRecorder, { strict: false }).flush();
  const [log] = await other.client.list('/v1/logs');
  foreign = new Map([
    ['/v1/logs', [readString(log?.['id'], 'id')]],
    ['/v1/model-routes', [readString(modelRoute['id'], 'id'), 'foreign-route']],
    ['/v1/workspaces', [readString(workspace['id'], 'id'), 'foreign-workspace', other.workspaceId]],
    ['/v1/virtual-keys', [readString(virtualKey['id'], 'id'), 'foreign-key']],
    ['/v1/secret-references', [readString(secretReference['id'], 'id'), 'foreign-reference']],
    ['/v1/webhooks', [readString(webhook['id'], 'id')]],
    ['/v1/prices', [readString(price['id'], 'id')]],
    ['/v1/policies/usage-limits', [readString(policy['id'], 'id')]],
    ['/v1/mcp-servers', [readString(mcpServer['id'], 'id'), 'foreign-server']],
    ['/v1/api-keys', [apiKey]],
    // Only people who log in are members: see login.app.spec.ts.
    ['/v1/members', ['ann']],
  ]);
  for (const scope of new Set(guarded.map((route) => route.scope ?? ''))) {
    const { client } = await admin.createKey({ scopes: SCOPES.filter((held) => held !== scope) });
    lacking.set(scope, client);
  }
});

afterAll(() => gateway.close());

function call(client: GatewayClient, { method, path }: Route, reference: string, body?: object): Promise<Answer> {
  return client.request(
    method,
    fill(path, reference),
    WITH_BODY.has(method) ? { ...BODIES[`${method} ${path}`], ...body } : undefined,
  );
}

/** Runs a check on every route and names those that fail it. */
async function onEvery(list: readonly Route[], check: (route: Route) => Promise<void>): Promise<void> {
  const failed: string[] = [];
  for (const route of list) {
    await check(route).catch((error: unknown) => failed.push(`${route.method} ${route.path}: ${String(error)}`));
  }
  expect(failed).toEqual([]);
  expect(list.length).toBeGreaterThan(5);
}

describe('the table of routes', () => {
  it('declares the callers of every route except the documentation', () => {
    const known = new Set(routes.map(({ method, path }) => `${method} ${path}`));
    const unknown = addressesOf(gateway.app).filter(
      ({ method, path }) => !known.has(`${method} ${path}`) && !DOCUMENTATION.test(path),
    );
    expect(unknown).toEqual([]);
  });

  it('serves every declared route', () => {
    const served = new Set(addressesOf(gateway.app).map(({ method, path }) => `${method} ${path}`));
    expect(routes.filter(({ method, path }) => !served.has(`${method} ${path}`))).toEqual([]);
  });

  it('leaves only the expected routes public', () => {
    const open = routes.filter((route) => route.scope === undefined && !route.isForAnyCaller && !MCP.test(route.path));
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
      [...PUBLIC, ...REDIRECTS, ...NO_LOGIN].sort(),
    );
  });

  it('declares only existing scopes and uses every scope', () => {
    expect(new Set([...guarded.map((route) => route.scope), ...ASKED_ELSEWHERE])).toEqual(new Set(SCOPES));
  });
});

describe('every public route', () => {
  it('answers every public route without a key', async () => {
    for (const address of PUBLIC) {
      const [method = '', path = ''] = address.split(' ');
      expect((await new GatewayClient(gateway.url, {}).request(method, path)).status).toBe(200);
    }
  });
});

describe('every guarded route', () => {
  it('refuses a caller without a key on every guarded route, with a challenge', () =>
    onEvery(guarded, async (route) => {
      const answer = await call(new GatewayClient(gateway.url, {}), route, 'default');
      expect(refusalOf(answer)).toEqual({ status: 401, code: 'api_key_invalid', param: null, source: 'gateway' });
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    }));

  it('refuses a key without the scope of the route, and names the scope', () =>
    onEvery(guarded, async (route) => {
      const client = lacking.get(route.scope ?? '') ?? admin;
      const answer = await call(client, route, 'default');
      expect(refusalOf(answer)).toEqual({ status: 403, code: 'permission_denied', param: null, source: 'gateway' });
      const { message } = errorIn(answer);
      expect(readString(message, 'message')).toContain(` ${route.scope}`);
    }));

  it('checks key and scope before reading the body', () =>
    onEvery(
      guarded.filter(({ method }) => WITH_BODY.has(method)),
      async ({ method, path, scope }) => {
        const headers = { 'content-type': 'text/plain' };
        const nobody = new GatewayClient(gateway.url, {});
        const without = lacking.get(scope ?? '') ?? admin;
        expect((await nobody.request(method, fill(path, 'default'), 'junk', headers)).status).toBe(401);
        expect((await without.request(method, fill(path, 'default'), 'junk', headers)).status).toBe(403);
        const { status } = await admin.request(method, fill(path, 'default'), 'junk', headers);
        expect(status).toBe(STREAMED.has(`${method} ${path}`) ? 400 : 415);
      },
    ));

  it('accepts a key that has only the scope of the route', () =>
    onEvery(guarded, async (route) => {
      const { client } = await admin.createKey({ scopes: [route.scope] });
      const { status } = await call(client, route, randomUUID());
      expect([401, 403]).not.toContain(status);
      expect(status).toBeLessThan(500);
    }));
});

describe('every route that names a resource', () => {
  const MISSING = { status: 404, code: 'not_found', param: null, source: 'gateway' };

  it("treats another tenant's resources as missing, by id and by slug", () =>
    onEvery(withReference, async (route) => {
      const collection = route.path.slice(0, route.path.indexOf('/:'));
      const references = foreign.get(collection);
      if (references === undefined) throw new Error(`this test needs a foreign resource of ${collection}`);
      const unknown = await call(admin, route, randomUUID());
      for (const reference of references) {
        const answer = await call(admin, route, reference);
        expect(refusalOf(answer)).toEqual(MISSING);
        expect(answer.text).toBe(unknown.text);
      }
    }));

  it("leaves another tenant's resources unchanged", async () => {
    for (const collection of [
      '/v1/workspaces',
      '/v1/virtual-keys',
      '/v1/secret-references',
      '/v1/policies/usage-limits',
    ]) {
      const resource = await other.client.read(`${collection}/${foreign.get(collection)?.[0]}`);
      expect(resource).toMatchObject({ name: 'Foreign' });
    }
    expect((await other.client.get(`/v1/api-keys/${foreign.get('/v1/api-keys')?.[0]}`)).status).toBe(200);
  });

  it('returns 404 for malformed references', () =>
    onEvery(withReference, async (route) => {
      for (const reference of [...JUNK, randomUUID(), randomUUID().toUpperCase()]) {
        expect({ reference, ...refusalOf(await call(admin, route, reference)) }).toEqual({ reference, ...MISSING });
      }
    }));

  it('returns 400 for a reference with an invalid encoding', () =>
    onEvery(withReference, async (route) => {
      expect(refusalOf(await call(admin, route, '%E0%A4%A'))).toMatchObject({ status: 400, code: 'validation_failed' });
    }));
});

describe('requests that name an organisation', () => {
  const MISMATCH = { status: 403, code: 'tenant_mismatch', param: 'organisation_id', source: 'gateway' };

  it('refuses another organisation in the body, whether it exists or not', () =>
    onEvery(
      guarded.filter(({ method, path }) => WITH_BODY.has(method) && !STREAMED.has(`${method} ${path}`)),
      async (route) => {
        for (const organisation_id of [other.organisationId, randomUUID()]) {
          expect(refusalOf(await call(admin, route, 'default', { organisation_id }))).toEqual(MISMATCH);
        }
      },
    ));

  it('refuses an organisation_id in the body that is not a UUID', () =>
    onEvery(
      guarded.filter(({ method, path }) => WITH_BODY.has(method) && !STREAMED.has(`${method} ${path}`)),
      async (route) => {
        for (const organisation_id of ['other', '']) {
          const refusal = refusalOf(await call(admin, route, 'default', { organisation_id }));
          expect(refusal).toEqual({ ...MISMATCH, status: 400, code: 'validation_failed' });
        }
      },
    ));

  it('refuses another organisation in the query', () =>
    onEvery(
      guarded.filter(({ method }) => !WITH_BODY.has(method)),
      async ({ method, path }) => {
        const answer = await admin.request(method, `${fill(path, 'default')}?organisation_id=${other.organisationId}`);
        expect(refusalOf(answer)).toEqual(MISMATCH);
      },
    ));

  it("accepts the caller's own organisation", () =>
    onEvery(guarded, async ({ method, path, name }) => {
      const { organisation_id } = await admin.read('/v1/workspaces/default');
      const query = WITH_BODY.has(method) ? '' : `?organisation_id=${String(organisation_id)}`;
      const body = WITH_BODY.has(method) ? { organisation_id } : undefined;
      const answer = await admin.request(method, fill(path, randomUUID()) + query, body);
      expect({ name, status: answer.status }).not.toEqual({ name, status: 403 });
    }));
});

describe('an unknown address', () => {
  it('returns the same 404 for an unknown address with and without a key', async () => {
    const [withKey, withoutKey] = [
      await admin.get('/v1/nowhere'),
      await new GatewayClient(gateway.url, {}).get('/v1/nowhere'),
    ];
    expect(refusalOf(withKey)).toMatchObject({ status: 404, code: 'operation_not_offered' });
    expect(withoutKey.text).toBe(withKey.text);
  });

  it.each(['/v1/workspaces', '/v1/rerank', '/health/live'])('lists the allowed methods of %s', async (path) => {
    const answer = await admin.request('PROPFIND', path);
    expect(refusalOf(answer)).toMatchObject({ status: 405, code: 'method_not_allowed' });
    const methods = addressesOf(gateway.app).filter((address) => address.path === path);
    expect(answer.headers['allow']).toBe(
      methods
        .map(({ method }) => method)
        .sort()
        .join(', '),
    );
  });
});
