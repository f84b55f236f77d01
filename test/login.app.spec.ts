import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scopesOf } from '../src/access/roles.js';
import { SCOPES } from '../src/access/scopes.js';
import { readString } from '../src/common/json/read.js';
import { RequestLogRecorder } from '../src/request-logs/request-log.recorder.js';
import { GatewayClient } from './support/gateway-client.js';
import { startIdentityProvider, type IdentityProvider } from './support/identity-provider.js';
import { type LoginProvider, startLoginProvider } from './support/login-provider.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

/** Where browsers would find the gateway. Here they find it elsewhere. */
const PUBLIC_URL = 'https://gateway.example.com';
const KEY_INVALID = { status: 401, code: 'api_key_invalid', param: null, source: 'gateway' };
const ROLES = [
  'owners=owner@acme',
  'auditors=auditor@acme',
  'team@search=member@acme/search',
  'team@search=auditor@other',
  'ghosts=owner@nowhere',
  'leads=admin@acme/search',
];

let provider: LoginProvider;
let gateway: TestApp;
let acme: Tenant;

beforeAll(async () => {
  provider = await startLoginProvider(PUBLIC_URL);
  gateway = await startTestApp(provider.settings(PUBLIC_URL, ROLES));
  acme = await addTenant(gateway, 'acme');
  await addTenant(gateway, 'other');
  await acme.client.create('/v1/workspaces', { name: 'Search', slug: 'search' });
});
afterAll(async () => {
  await gateway.close();
  await provider.close();
});

/** What a browser keeps and where it is. */
class Browser {
  private readonly cookies = new Map<string, string>();

  constructor(private readonly url = gateway.url) {}

  get cookie(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  async open(path: string): Promise<Answer> {
    const answer = await send(this.url + path, { method: 'GET', headers: { cookie: this.cookie } });
    for (const set of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return answer;
  }

  /** Path and query at which it comes back from the identity provider. */
  async visitProvider(query = ''): Promise<string> {
    const begun = await this.open(`/v1/login/oidc${query}`);
    expect(begun.status).toBe(303);
    const atProvider = new Browser('');
    let address = readString(begun.headers.location, 'location');
    while (!address.startsWith(PUBLIC_URL)) {
      const { headers, text } = await atProvider.open(address);
      if (headers.location === undefined) throw new Error(text);
      address = new URL(readString(headers.location, 'location'), address).href;
    }
    return address.slice(PUBLIC_URL.length);
  }

  async logIn(query = ''): Promise<Answer> {
    return this.open(await this.visitProvider(query));
  }

  client(csrf = ''): GatewayClient {
    return new GatewayClient(this.url, { cookie: this.cookie, ...(csrf && { 'x-gateway-csrf-token': csrf }) });
  }
}

async function loggedIn(query = ''): Promise<{ readonly browser: Browser; readonly client: GatewayClient }> {
  const browser = new Browser();
  expect((await browser.logIn(query)).headers.location).toBe('/console');
  const { csrf_token: csrf } = await browser.client().read('/v1/sessions/current');
  return { browser, client: browser.client(readString(csrf, 'csrf_token')) };
}

describe('a log-in at the identity provider', () => {
  it('gives the scopes of the role of a group, and shows the page that was asked for', async () => {
    provider.nextUser({ sub: 'ann', groups: ['owners'] });
    const browser = new Browser();
    const answer = await browser.logIn('?return_to=/console/limits%3Fstatus%3Dactive');
    expect(answer.headers.location).toBe('/console/limits?status=active');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.headers['set-cookie']?.join()).toMatch(
      /tollgate-login=;.*tollgate-session=[\w.-]+;.*SameSite=Strict/,
    );
    const caller = await browser.client().read('/v1/me');
    expect(caller).toMatchObject({ type: 'admin_token', id: 'ann', name: 'ann@example.com' });
    expect(caller).toMatchObject({ organisation: { slug: 'acme' }, scopes: [...SCOPES] });
    const { csrf_token: csrf } = await browser.client().read('/v1/sessions/current');
    const client = browser.client(readString(csrf, 'csrf_token'));
    const { id } = await client.create('/v1/workspaces', { name: 'Made by Ann' });
    expect(await acme.client.read(`/v1/workspaces/${String(id)}`)).toMatchObject({
      organisation_id: acme.organisationId,
    });
    const [entry] = await acme.client.list('/v1/audit-logs?page_size=1');
    expect(entry).toMatchObject({ action: 'workspaces.create', actor_id: 'ann', actor_name: 'ann@example.com' });
  });

  it('ends the oldest session of a person who has a hundred', async () => {
    provider.nextUser({ sub: 'busy', groups: ['auditors'] });
    const oldest = await loggedIn();
    await gateway.dataSource.query(
      `INSERT INTO sessions SELECT (jsonb_populate_record(oldest, jsonb_build_object(
         'id', gen_random_uuid(), 'created_at', oldest.created_at + interval '1 second'))).*
       FROM sessions oldest, generate_series(1, 99) WHERE subject = 'busy'`,
    );
    const newest = await loggedIn();
    expect(await newest.client.list('/v1/sessions?page_size=100')).toHaveLength(100);
    expect((await oldest.client.get('/v1/me')).status).toBe(401);
  });

  it('lets an auditor read and change nothing', async () => {
    provider.nextUser({ sub: 'aud', groups: ['unknown', 'auditors'] });
    const { client } = await loggedIn();
    expect((await client.get('/v1/audit-logs')).status).toBe(200);
    expect(refusalOf(await client.post('/v1/workspaces', { name: 'W' }))).toMatchObject({ code: 'permission_denied' });
  });

  it('shows a member of a workspace that workspace only, and names the other places', async () => {
    provider.nextUser({ sub: 'mem', groups: ['team@search'] });
    const { client } = await loggedIn();
    expect((await client.list('/v1/workspaces')).map(({ slug }) => slug)).toEqual(['search']);
    expect((await client.read('/v1/me'))['scopes']).toEqual(scopesOf('member'));
    expect((await client.get('/v1/workspaces/default')).status).toBe(404);
    const fields = { name: 'app', scopes: ['completions.write'] };
    const { id } = await client.create('/v1/api-keys', { ...fields, level: 'workspace' });
    expect(await acme.client.read(`/v1/api-keys/${String(id)}`)).toMatchObject({ level: 'workspace' });
    expect((await client.post('/v1/api-keys', { ...fields, level: 'organisation' })).status).toBe(403);
    expect((await client.read('/v1/sessions/current'))['places']).toEqual([
      { organisation: 'acme', workspace: 'search', role: 'member' },
      { organisation: 'other', workspace: null, role: 'auditor' },
    ]);
    const elsewhere = await loggedIn('?organisation=other');
    expect(await elsewhere.client.read('/v1/me')).toMatchObject({ organisation: { slug: 'other' } });
  });

  it('gives the tool calls of a person the metadata of their workspace', async () => {
    const defaults = { metadata: { team: 'finders' } };
    expect((await acme.client.patch('/v1/workspaces/search', { defaults })).status).toBe(200);
    await acme.client.create('/v1/mcp-servers', {
      name: 'Away',
      slug: 'away',
      url: 'http://127.0.0.1:1/mcp',
      workspace_id: 'search',
    });
    provider.nextUser({ sub: 'mem', groups: ['team@search'] });
    const { client } = await loggedIn();
    expect((await client.post('/v1/mcp-servers/away/tools/t/call', {})).status).toBe(502);
    await gateway.app.get(RequestLogRecorder, { strict: false }).flush();
    expect((await acme.client.list('/v1/logs?mcp_server=away')).map(({ metadata }) => metadata)).toEqual([
      { team: 'finders' },
    ]);
  });

  it.each([
    ['without a group', { sub: 'nil' }],
    ['whose group has no role', { sub: 'nil', groups: ['visitors'] }],
    ['whose organisation does not exist', { sub: 'nil', groups: ['ghosts'] }],
  ])('refuses a person %s', async (_who, user) => {
    provider.nextUser(user);
    const browser = new Browser();
    expect((await browser.logIn()).headers.location).toBe('/console?login_error=no_role');
    expect(browser.cookie).toBe('');
    expect(gateway.log()).toContain('"event":"login_failed","reason":"no_role"');
  });

  it('shows why at the page that was asked for', async () => {
    provider.nextUser({ sub: 'nil', groups: ['visitors'] });
    const asked = encodeURIComponent('/console/limits?search=a%26b');
    const refused = await new Browser().logIn(`?return_to=${asked}`);
    expect(refused.headers.location).toBe('/console/limits?search=a%26b&login_error=no_role');
  });

  it('refuses a place that the groups of the person do not give', async () => {
    provider.nextUser({ sub: 'mem', groups: ['team@search'] });
    const browser = new Browser();
    expect((await browser.logIn('?organisation=acme')).headers.location).toBe('/console?login_error=no_role');
  });

  it('refuses a wrong state, a state of another browser, and a browser that did not begin', async () => {
    provider.nextUser({ sub: 'ann', groups: ['owners'] });
    const [victim, attacker, stranger] = [new Browser(), new Browser(), new Browser()];
    const back = await attacker.visitProvider();
    await victim.visitProvider();
    for (const [browser, path] of [
      [victim, back],
      [stranger, back],
      [attacker, back.replace(/state=[^&]*/, 'state=wrong')],
      [attacker, back.replace(/state=[^&]*/, '')],
    ] as const) {
      expect((await browser.open(path)).headers.location).toBe('/console?login_error=expired');
      expect(browser.cookie).toBe('');
    }
  });

  it('refuses a code that was used, and one that was made for another log-in', async () => {
    provider.nextUser({ sub: 'ann', groups: ['owners'] });
    const browser = new Browser();
    const back = await browser.visitProvider();
    const { cookie } = browser;
    expect((await browser.open(back)).headers.location).toBe('/console');
    const replay = await send(gateway.url + back, { method: 'GET', headers: { cookie } });
    expect(replay.headers.location).toBe('/console?login_error=refused');
    expect(replay.headers['set-cookie']?.join()).not.toContain('tollgate-session');
    const stolen = new URLSearchParams(new URL(await new Browser().visitProvider(), PUBLIC_URL).search).get('code');
    const other = new Browser();
    const injected = (await other.visitProvider()).replace(/code=[^&]*/, `code=${stolen}`);
    expect((await other.open(injected)).headers.location).toBe('/console?login_error=refused');
    expect(gateway.log()).not.toContain(String(stolen));
  });

  it('refuses what the provider refuses, and a log-in that took too long', async () => {
    provider.nextUser({ sub: 'ann', groups: ['owners'] });
    const browser = new Browser();
    const back = await browser.visitProvider();
    const denied = back.replace(/code=[^&]*/, 'error=access_denied');
    const { cookie } = browser;
    expect((await browser.open(denied)).headers.location).toBe('/console?login_error=refused');
    gateway.clock.advance(601_000);
    const late = await send(gateway.url + back, { method: 'GET', headers: { cookie } });
    expect(late.headers.location).toBe('/console?login_error=expired');
  });

  it.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/console/../v1/me',
    '/consoles',
    'console',
    'javascript:alert(1)',
  ])('never returns to %j', async (address) => {
    const answer = await new Browser().open(`/v1/login/oidc?return_to=${encodeURIComponent(address)}`);
    expect([answer.status, new URL(answer.headers.location ?? 'none:', provider.issuer).protocol]).toEqual([
      400,
      'none:',
    ]);
    expect(refusalOf(answer)).toMatchObject({ code: 'validation_failed', param: 'return_to' });
  });

  it('ends when the person ends it, and shows only sessions of the same person', async () => {
    provider.nextUser({ sub: 'ann', groups: ['owners'] });
    const [one, two] = [await loggedIn(), await loggedIn()];
    provider.nextUser({ sub: 'bob', groups: ['owners'] });
    const bob = await loggedIn();
    const { id } = await one.client.read('/v1/sessions/current');
    expect((await bob.client.list('/v1/sessions')).length).toBe(1);
    expect((await bob.client.delete(`/v1/sessions/${String(id)}`)).status).toBe(404);
    expect((await acme.client.delete(`/v1/sessions/${String(id)}`)).status).toBe(404);
    expect((await two.client.list('/v1/sessions')).map((session) => session['id'])).toContain(id);
    expect((await two.client.delete(`/v1/sessions/${String(id)}`)).status).toBe(204);
    expect(refusalOf(await one.client.get('/v1/me'))).toEqual(KEY_INVALID);
    expect((await two.client.delete('/v1/sessions/current')).status).toBe(204);
    expect(refusalOf(await two.client.get('/v1/me'))).toEqual(KEY_INVALID);
  });

  it('is for the API only, and calls no provider', async () => {
    provider.nextUser({ sub: 'ann', groups: ['owners'] });
    const { client } = await loggedIn();
    const body = { model: '@x/y', query: 'q', documents: ['d'] };
    expect(refusalOf(await client.post('/v1/rerank', body))).toEqual(KEY_INVALID);
  });
});

describe('the members of an organisation', () => {
  it('are the people who are logged in there, with their roles there and no others', async () => {
    provider.nextUser({ sub: 'owner-1', groups: ['owners'] });
    await loggedIn();
    const owner = await loggedIn();
    provider.nextUser({ sub: 'member-1', groups: ['team@search'] });
    const member = await loggedIn();
    await loggedIn('?organisation=other');
    const all = await owner.client.list('/v1/members?page_size=100');
    expect(all.find(({ id }) => id === 'owner-1')).toEqual({
      object: 'member',
      id: 'owner-1',
      name: 'owner-1@example.com',
      roles: [{ role: 'owner', workspace: null }],
      sessions: 2,
      last_login_at: expect.any(Number),
      expires_at: expect.any(Number),
    });
    const search = { role: 'member', workspace: 'search' };
    expect(all.find(({ id }) => id === 'member-1')).toMatchObject({ roles: [search], sessions: 1 });
    const named = async (text: string): Promise<unknown[]> =>
      (await owner.client.list(`/v1/members?search=${text}`)).map(({ id }) => id);
    expect([await named('OWNER-1@ex'), await named('ember-1'), await named('owner-1%25')]).toEqual([
      ['owner-1'],
      ['member-1'],
      [],
    ]);
    const seen = await member.client.list('/v1/members?page_size=100');
    expect(seen.map(({ id }) => id)).toContain('member-1');
    expect(seen.map(({ id }) => id)).not.toContain('owner-1');
  });

  it.each([
    ['a NUL character', 'a\0b', 'a\uFFFDb'],
    ['half of a surrogate pair', 'a\ud800b', 'a\uFFFDb'],
    ['a pair at the place where it is cut', `${'a'.repeat(254)}😀b`, `${'a'.repeat(254)}😀`],
  ])('may have a name with %s', async (_what, email, name) => {
    provider.nextUser({ sub: 'odd', email, groups: ['owners'] });
    const { client } = await loggedIn();
    expect((await client.list('/v1/members?page_size=100')).find(({ id }) => id === 'odd')).toMatchObject({ name });
    expect((await client.delete('/v1/sessions/current')).status).toBe(204);
  });

  it('get their roles from the groups that the setting names', async () => {
    const groups = await acme.client.list('/v1/members/groups');
    expect(groups.map(({ group, role, workspace }) => [group, role, workspace])).toEqual([
      ['owners', 'owner', null],
      ['auditors', 'auditor', null],
      ['team@search', 'member', 'search'],
      ['leads', 'admin', 'search'],
    ]);
    const named = await acme.client.list('/v1/members/groups?search=LEAD');
    expect(named.map(({ group }) => group)).toEqual(['leads']);
  });

  it('are logged out by an administrator, in every browser here and nowhere else', async () => {
    provider.nextUser({ sub: 'idp|left/1', groups: ['team@search'] });
    const [one, two] = [await loggedIn(), await loggedIn()];
    const elsewhere = await loggedIn('?organisation=other');
    provider.nextUser({ sub: 'owner-2', groups: ['owners'] });
    const owner = await loggedIn();
    const path = `/v1/members/${encodeURIComponent('idp|left/1')}/sessions`;
    expect((await owner.client.delete(path)).status).toBe(204);
    for (const { client } of [one, two]) expect(refusalOf(await client.get('/v1/me'))).toEqual(KEY_INVALID);
    expect((await elsewhere.client.get('/v1/me')).status).toBe(200);
    expect((await owner.client.list('/v1/members')).map(({ id }) => id)).not.toContain('idp|left/1');
    expect((await owner.client.delete(path)).status).toBe(404);
    const entries = await acme.client.list('/v1/audit-logs?action=sessions.end');
    expect(entries).toHaveLength(2);
    expect(entries[0]).toMatchObject({
      actor_id: 'owner-2',
      resource_type: 'session',
      resource_name: 'idp|left/1@example.com',
      changes: { member: { old: 'idp|left/1', new: null } },
    });
  });

  it.each([
    ['by a member of their workspace', 'team@search', 'mem-2', 403],
    ['by an auditor', 'auditors', 'mem-2', 403],
    ['by an administrator of one workspace, when they are logged in to all', 'leads', 'owner-3', 404],
  ])('are not logged out %s', async (_by, group, id, status) => {
    provider.nextUser({ sub: id, groups: [id === 'owner-3' ? 'owners' : 'team@search'] });
    const person = await loggedIn();
    provider.nextUser({ sub: 'caller', groups: [group] });
    const caller = await loggedIn();
    expect((await caller.client.delete(`/v1/members/${id}/sessions`)).status).toBe(status);
    expect((await person.client.get('/v1/me')).status).toBe(200);
  });

  it('are not for keys without the scope api_keys.list', async () => {
    const { client } = await acme.client.createKey({ scopes: ['usage.read'] });
    for (const path of ['/v1/members', '/v1/members/groups']) {
      expect(refusalOf(await client.get(path))).toMatchObject({ code: 'permission_denied' });
    }
  });
});

describe('the identity provider of log-ins', () => {
  it('ends sessions when it is replaced or no longer configured', async () => {
    provider.nextUser({ sub: 'ann', groups: ['owners'] });
    const { browser } = await loggedIn();
    const without = await startTestApp({}, true);
    try {
      expect(refusalOf(await new GatewayClient(without.url, { cookie: browser.cookie }).get('/v1/me'))).toEqual(
        KEY_INVALID,
      );
      expect(jsonOf(await new Browser(without.url).open('/v1/login'))).toEqual({
        object: 'login_options',
        api_key: true,
        oidc: false,
      });
      for (const path of ['/v1/login/oidc', '/v1/login/oidc/callback?code=x&state=y']) {
        expect((await new Browser(without.url).open(path)).status).toBe(404);
      }
    } finally {
      await without.close();
    }
  });

  it('is reported as unavailable while it does not answer, and asked again afterwards', async () => {
    const away = await startTestApp(
      { ...provider.settings(PUBLIC_URL, ROLES), ADMIN_OIDC_ISSUER: 'http://127.0.0.1:9' },
      true,
    );
    try {
      const answer = await new Browser(away.url).open('/v1/login/oidc');
      expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'identity_provider_unavailable' });
    } finally {
      await away.close();
    }
  });
});

describe("the session of an administrator's token", () => {
  let tokens: IdentityProvider;
  let app: TestApp;
  let nobody: GatewayClient;
  let organisationId: string;
  let otherId: string;

  beforeAll(async () => {
    tokens = await startIdentityProvider();
    app = await startTestApp(tokens.settings);
    nobody = new GatewayClient(app.url, {});
    organisationId = (await addTenant(app, 'first')).organisationId;
    otherId = (await addTenant(app, 'second')).organisationId;
  });
  afterAll(async () => {
    await app.close();
    await tokens.close();
  });

  function clientOf(answer: Answer): GatewayClient {
    const cookie = answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    const csrf = readString(jsonOf(answer)['csrf_token'], 'csrf_token');
    return new GatewayClient(app.url, { cookie, 'x-gateway-csrf-token': csrf });
  }

  it('is for one organisation, which a token of several has to name', async () => {
    const both = [organisationId, otherId];
    const admin = nobody.withToken(await tokens.tokenFor({ scopes: ['workspaces.list'], organisationId: both }));
    expect(refusalOf(await admin.post('/v1/sessions'))).toMatchObject({ status: 400, param: 'organisation_id' });
    const foreign = { organisation_id: acme.organisationId };
    expect(refusalOf(await admin.post('/v1/sessions', foreign))).toMatchObject({ code: 'tenant_mismatch' });
    const client = clientOf(await admin.post('/v1/sessions', { organisation_id: otherId }));
    expect(await client.read('/v1/me')).toMatchObject({ organisation: { id: otherId } });
    const byQuery = clientOf(await admin.post(`/v1/sessions?organisation_id=${organisationId}`));
    expect(await byQuery.read('/v1/me')).toMatchObject({ organisation: { id: organisationId } });
    const elsewhere = await client.get(`/v1/workspaces?organisation_id=${organisationId}`);
    expect(refusalOf(elsewhere)).toMatchObject({ code: 'tenant_mismatch' });
  });

  it('has the scopes and the organisation of the token, and ends with it', async () => {
    const scopes = ['workspaces.create', 'workspaces.list'];
    const admin = nobody.withToken(await tokens.tokenFor({ scopes, organisationId }));
    const opened = await admin.post('/v1/sessions');
    expect(opened.status).toBe(201);
    const client = clientOf(opened);
    expect((await client.post('/v1/workspaces', { name: 'W' })).status).toBe(201);
    expect(refusalOf(await client.get('/v1/api-keys'))).toMatchObject({ code: 'permission_denied' });
    expect(refusalOf(await client.post('/v1/sessions'))).toEqual(KEY_INVALID);
    app.clock.advance(301_000);
    expect(refusalOf(await client.get('/v1/me'))).toEqual(KEY_INVALID);
  });
});
