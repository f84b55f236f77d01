import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SCOPES } from '../src/access/scopes.js';
import { type JsonObject, readString } from '../src/common/json/read.js';
import { forEvery, pairs } from './support/for-every.js';
import type { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { startTestApp, type TestApp } from './support/test-app.js';

/** The rules that all resources of the API share; a resource's own rules are in its own spec. */
interface Resource {
  readonly path: string;
  /** A valid create without the name. */
  readonly body: JsonObject;
  /** The field that an update changes, and its new value. */
  readonly change: readonly [field: string, value: string];
  readonly hasSlug: boolean;
  /** A field that the create requires. */
  readonly needs: string;
}

const VAULT = { vault_auth_type: 'token', vault_token: 'hvs.none', vault_addr: 'https://vault.example.com' };
const SECRET = { manager_type: 'hashicorp_vault', auth_config: VAULT, secret_path: 'secret/cohere' };
const LIMIT = {
  conditions: [{ key: 'workspace_id', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'cost',
  credit_limit: 1,
};
const HOOK = { url: 'http://127.0.0.1:9/hook', events: ['usage_limit.exhausted'] };

const RESOURCES: readonly Resource[] = [
  { path: '/v1/api-keys', body: { level: 'organisation', scopes: ['api_keys.read'] }, ...named('scopes', false) },
  { path: '/v1/virtual-keys', body: { provider: 'local' }, ...named('provider', true) },
  { path: '/v1/secret-references', body: SECRET, ...named('secret_path', true) },
  { path: '/v1/webhooks', body: HOOK, change: ['description', 'Changed'], hasSlug: false, needs: 'url' },
  { path: '/v1/mcp-servers', body: { url: 'https://mcp.example.com/mcp' }, ...named('url', true) },
  { path: '/v1/policies/usage-limits', body: LIMIT, ...named('credit_limit', true) },
  { path: '/v1/workspaces', body: {}, ...named('name', true) },
  {
    path: '/v1/model-routes',
    body: { targets: [{ virtual_key: 'local', model: 'bm25' }] },
    change: ['description', 'Changed'],
    hasSlug: true,
    needs: 'targets',
  },
];

function named(needs: string, hasSlug: boolean): Pick<Resource, 'change' | 'hasSlug' | 'needs'> {
  return { change: ['name', 'Changed'], hasSlug, needs };
}

/** Callers name a model route by its name. */
const UNIQUE_NAMES = '/v1/model-routes';

const ALL = RESOURCES.map((resource) => [resource.path, resource] as const);
/** The interface bounds the names of secret references and limits by their length alone. */
const WITH_VISIBLE_NAME = ALL.filter(
  ([path]) => !['/v1/webhooks', '/v1/secret-references', '/v1/policies/usage-limits'].includes(path),
);
const WITH_SLUG = ALL.filter(([, { hasSlug }]) => hasSlug);
/** A status that new resources have, and one that they do not have. */
const STATUSES = new Map([
  ['/v1/api-keys', ['active', 'expired']],
  ['/v1/virtual-keys', ['active', 'expired']],
  ['/v1/webhooks', ['enabled', 'disabled']],
  ['/v1/mcp-servers', ['enabled', 'disabled']],
  ['/v1/policies/usage-limits', ['active', 'archived']],
]);
const MISSING = { status: 404, code: 'not_found', param: null, source: 'gateway' };

let gateway: TestApp;
let owner: Tenant;
let stranger: Tenant;

beforeAll(async () => {
  gateway = await startTestApp();
  owner = await addTenant(gateway, 'owner');
  stranger = await addTenant(gateway, 'stranger');
  for (const { client } of [owner, stranger]) {
    await client.create('/v1/virtual-keys', { name: 'local', slug: 'local', provider: 'local' });
  }
});
afterAll(() => gateway.close());

function bodyOf({ path, body }: Resource): JsonObject {
  if (path === '/v1/webhooks') return { ...body, description: 'One' };
  return { ...body, name: path === UNIQUE_NAMES ? `One ${randomUUID()}` : 'One' };
}

/** Creates a resource; returns its id. */
async function make(resource: Resource, client: GatewayClient = owner.client, more: object = {}): Promise<string> {
  return readString((await client.create(resource.path, { ...bodyOf(resource), ...more }))['id'], 'id');
}

const idsOf = (items: readonly JsonObject[]): readonly unknown[] => items.map(({ id }) => id);

describe('every resource', () => {
  it('creates, reads, updates only the named field and deletes every resource', () =>
    forEvery(ALL, async (resource) => {
      const at = `${resource.path}/${await make(resource)}`;
      const made = await owner.client.read(at);
      const [field, value] = resource.change;
      for (const method of ['put', 'patch'] as const) {
        const text = `${value} by ${method}`;
        expect((await owner.client[method](at, { [field]: text })).status).toBe(200);
        const { updated_at: _now, last_updated_at: _too, ...read } = await owner.client.read(at);
        expect({ ...made, ...read }).toEqual({ ...made, [field]: text, ...versionOf(read) });
      }
      expect((await owner.client.delete(at)).status).toBe(204);
    }));

  it('takes back every resource as it was read, and names fixed fields with another value', () =>
    forEvery(ALL, async (resource) => {
      const at = `${resource.path}/${await make(resource)}`;
      const read = await owner.client.read(at);
      for (const method of ['put', 'patch'] as const) {
        const answer = await owner.client[method](at, { ...read, updated_at: 1 });
        expect([answer.status, jsonOf(answer)]).toEqual([200, read]);
        const other = { id: stranger.workspaceId, object: 'other', created_at: 1 };
        const refused = await owner.client[method](at, { ...read, ...other });
        expect([refused.status, brokenRulesOf(refused)]).toEqual([400, new Set(Object.keys(other))]);
      }
    }));

  it('creates a resource by PUT on its slug, updates it by the same request, and nothing else', () =>
    forEvery(WITH_SLUG, async (resource) => {
      const at = `${resource.path}/put-${randomUUID().slice(0, 8)}`;
      const body = bodyOf(resource);
      const { [resource.needs]: _left, ...incomplete } = body;
      for (const [client, method, sent] of [
        [owner.client, 'put', incomplete],
        [owner.client, 'patch', body],
      ] as const) {
        expect(refusalOf(await client[method](at, sent))).toEqual(MISSING);
      }
      expect(refusalOf(await owner.client.put(`${resource.path}/${randomUUID()}`, body))).toEqual(MISSING);
      expect(refusalOf(await owner.client.put(at, { ...body, slug: 'another' }))).toMatchObject({ param: 'slug' });
      const updates = SCOPES.filter((scope) => !scope.endsWith('.create'));
      const { client } = await owner.client.createKey({ scopes: updates });
      expect(refusalOf(await client.put(at, body))).toMatchObject({ status: 403, code: 'permission_denied' });

      const created = await owner.client.put(at, body);
      expect([created.status, jsonOf(created)]).toEqual([201, await owner.client.read(at)]);
      const again = await owner.client.put(at, body);
      expect([again.status, jsonOf(again)]).toEqual([200, jsonOf(created)]);
    }));

  it('answers two PUTs of a new slug at the same time with one resource', () =>
    forEvery(WITH_SLUG, async (resource) => {
      const at = `${resource.path}/both-${randomUUID().slice(0, 8)}`;
      const answers = await Promise.all([1, 2].map(() => owner.client.put(at, bodyOf(resource))));
      expect(new Set(answers.map((answer) => jsonOf(answer)['id'])).size).toBe(1);
    }));

  it('answers a repeated create as the first one, and refuses the key for another request', () =>
    forEvery(ALL, async (resource) => {
      const key = { 'idempotency-key': `key ${randomUUID()}` };
      const body = bodyOf(resource);
      const before = (await owner.client.listAll(resource.path)).length;
      const first = await owner.client.post(resource.path, body, key);
      const again = await owner.client.post(resource.path, body, key);
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect([first.headers['idempotent-replayed'], again.headers['idempotent-replayed']]).toEqual([undefined, 'true']);
      expect(await owner.client.listAll(resource.path)).toHaveLength(before + 1);

      const other = await owner.client.post(resource.path, { ...body, description: 'Other' }, key);
      expect(refusalOf(other)).toMatchObject({ status: 422, code: 'idempotency_key_reused', param: 'Idempotency-Key' });
      const colleague = (await owner.client.createKey({ scopes: SCOPES })).client;
      for (const client of [stranger.client, colleague]) {
        const name = resource.path === UNIQUE_NAMES ? { name: `Two ${randomUUID()}` } : {};
        const made = await client.post(resource.path, { ...body, ...name }, key);
        expect([made.status, made.headers['idempotent-replayed']]).toEqual([201, undefined]);
      }
    }));

  it('creates one resource when the same request is sent several times at once', () =>
    forEvery(ALL, async (resource) => {
      const key = { 'idempotency-key': randomUUID() };
      const named = resource.hasSlug ? { slug: `once-${randomUUID()}` } : {};
      const body = { ...bodyOf(resource), ...named };
      const sent = [1, 2, 3].map(() => owner.client.post(resource.path, body, key));
      const answers = await Promise.all(sent);
      const made = answers.filter(({ status }) => status === 201);
      expect(new Set(made.map(({ text }) => text)).size).toBe(1);
      expect(answers.filter(({ status }) => status !== 201 && status !== 409)).toEqual([]);
      const last = await owner.client.post(resource.path, body, key);
      expect([last.status, last.text]).toEqual([201, made[0]?.text]);
    }));

  it('refuses an Idempotency-Key that cannot be kept, and forgets the key of a refused create', () =>
    forEvery(ALL, async (resource) => {
      const tooLong = await owner.client.post(resource.path, bodyOf(resource), { 'idempotency-key': 'k'.repeat(256) });
      expect(refusalOf(tooLong)).toMatchObject({ status: 400, param: 'Idempotency-Key' });
      const key = { 'idempotency-key': randomUUID() };
      expect((await owner.client.post(resource.path, { surprise: 1 }, key)).status).toBe(400);
      expect((await owner.client.post(resource.path, bodyOf(resource), key)).status).toBe(201);
    }));

  it('names the missing field of a create', () =>
    forEvery(ALL, async (resource) => {
      const { [resource.needs]: _left, ...rest } = bodyOf(resource);
      const answer = await owner.client.post(resource.path, rest);
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: resource.needs });
      expect(answer.text).toContain(`"message":"${resource.needs} is required`);
    }));

  it('refuses a name of spaces only', () =>
    forEvery(WITH_VISIBLE_NAME, async (resource) => {
      const at = `${resource.path}/${await make(resource)}`;
      for (const name of [' ', '   ', '\t\n', '\u00a0\u2003']) {
        const wrong = { status: 400, code: 'validation_failed', param: 'name' };
        expect(refusalOf(await owner.client.post(resource.path, { ...bodyOf(resource), name }))).toMatchObject(wrong);
        expect(refusalOf(await owner.client.patch(at, { name }))).toMatchObject(wrong);
      }
      const padded = ` padded ${randomUUID()} `;
      expect((await owner.client.patch(at, { name: padded })).status).toBe(200);
      expect(await owner.client.read(at)).toMatchObject({ name: padded });
    }));

  it('refuses unknown fields in creates and updates', () =>
    forEvery(ALL, async (resource) => {
      const unknown = { surprise: 1 };
      const wrong = { status: 400, code: 'validation_failed', param: 'surprise' };
      const at = `${resource.path}/${await make(resource)}`;
      expect(refusalOf(await owner.client.post(resource.path, { ...bodyOf(resource), ...unknown }))).toMatchObject(
        wrong,
      );
      for (const method of ['put', 'patch'] as const) {
        expect(refusalOf(await owner.client[method](at, unknown))).toMatchObject(wrong);
      }
    }));

  it('finds a resource by slug and by id', () =>
    forEvery(WITH_SLUG, async (resource) => {
      const id = await make(resource, owner.client, { slug: 'By_Slug-1' });
      const at = `${resource.path}/By_Slug-1`;
      expect(await owner.client.read(at)).toEqual(await owner.client.read(`${resource.path}/${id}`));
      const [field, value] = resource.change;
      expect(jsonOf(await owner.client.put(at, { [field]: value }))).toMatchObject({ id, [field]: value });
      expect((await owner.client.delete(at)).status).toBe(204);
      expect(refusalOf(await owner.client.get(at))).toEqual(MISSING);
    }));

  it('lists each resource once, newest first, with any page size', () =>
    forEvery(ALL, async (resource) => {
      const made: string[] = [];
      for (let count = 0; count < 3; count += 1) made.unshift(await make(resource));
      const all = await owner.client.list(`${resource.path}?page_size=100`);
      expect(idsOf(all).slice(0, 3)).toEqual(made);
      // By their ids: when a key was last used is written meanwhile.
      const ids: unknown[] = [];
      for (let page = 0; page < all.length; page += 1) {
        const at = `${resource.path}?page_size=1&current_page=${page}`;
        const { object, total } = await owner.client.read(at);
        expect({ object, total }).toEqual({ object: 'list', total: all.length });
        ids.push(...idsOf(await owner.client.list(at)));
      }
      expect(ids).toEqual(idsOf(all));
      expect(await owner.client.list(`${resource.path}?current_page=${all.length}`)).toEqual([]);
    }));

  it('searches, filters and sorts every list', () =>
    forEvery(ALL, async (resource) => {
      const [field] = resource.change;
      const mark = randomUUID().slice(0, 8);
      const ids: string[] = [];
      for (const text of [`B ${mark}`, `A ${mark}`]) ids.push(await make(resource, owner.client, { [field]: text }));
      const found = (query: string) => owner.client.list(`${resource.path}?${query}`);
      const search = `search=${mark.toUpperCase()}`;
      expect(idsOf(await found(search))).toEqual([...ids].reverse());
      expect(idsOf(await found(`${search}&sort=created_at`))).toEqual(ids);
      if (field === 'name') expect(idsOf(await found(`${search}&sort=name`))).toEqual([...ids].reverse());
      expect(await found(`search=${mark}_`)).toEqual([]);
      const status = STATUSES.get(resource.path) ?? ['active', undefined];
      expect(idsOf(await found(`${search}&status=${status[0]}`))).toHaveLength(2);
      if (status[1] !== undefined) expect(await found(`${search}&status=${status[1]}`)).toEqual([]);
    }));

  it('lists the keys and workspaces with the named ids, and none of others', () =>
    forEvery(
      ALL.filter(([path]) => path === '/v1/api-keys' || path === '/v1/workspaces'),
      async (resource) => {
        const ids: string[] = [];
        for (let number = 0; number < 3; number += 1) ids.push(await make(resource, owner.client));
        const foreign = await make(resource, stranger.client);
        const unknown = Array.from({ length: 97 }, () => randomUUID());
        const named = [ids[0], ids[2]?.toUpperCase(), foreign, ...unknown].join(',');
        const at = `${resource.path}?page_size=100&ids=`;
        expect(idsOf(await owner.client.list(at + named))).toEqual([ids[2], ids[0]]);
        expect(await owner.client.list(`${at}${ids[0]}&search=no-such-name`)).toEqual([]);
        const { client: inside } = await owner.client.createKey({
          level: 'workspace',
          workspace_id: owner.workspaceId,
          scopes: ['api_keys.list', 'workspaces.list'],
        });
        const [own] = idsOf(await inside.list(resource.path)).map(String);
        expect(idsOf(await inside.list(`${at}${own},${ids[0]}`))).toEqual([own]);
        for (const wrong of ['', 'soon', `${named},${ids[1]}`]) {
          const refusal = refusalOf(await owner.client.get(at + wrong));
          expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', param: 'ids' });
        }
      },
    ));

  it('lists what expires before a time, by the time', () =>
    forEvery(
      ALL.filter(([path]) => path === '/v1/api-keys' || path === '/v1/virtual-keys'),
      async (resource) => {
        const soon = Math.floor(gateway.clock.now().getTime() / 1_000) + 3_600;
        const ids: string[] = [];
        for (const expires_at of [soon + 9, soon, null]) ids.push(await make(resource, owner.client, { expires_at }));
        const at = `${resource.path}?sort=expires_at&expires_before=`;
        expect(idsOf(await owner.client.list(at + (soon + 10)))).toEqual([ids[1], ids[0]]);
        expect(idsOf(await owner.client.list(at + (soon + 9)))).toEqual([ids[1]]);
        expect(await owner.client.list(`${at}${soon + 10}&status=expired`)).toEqual([]);
      },
    ));

  it('refuses filters that a list does not have', () =>
    forEvery(
      pairs(ALL, ['sort=surprise', 'status=surprise', 'search=', 'expires_before=soon']),
      async ([one, query]) => {
        const refusal = refusalOf(await owner.client.get(`${one.path}?${query}`));
        expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', param: query.split('=')[0] });
      },
    ));

  it('refuses invalid page parameters', () =>
    forEvery(pairs(ALL, ['page_size=0', 'page_size=101', 'current_page=-1', 'page=1']), async ([{ path }, query]) => {
      const refusal = refusalOf(await owner.client.get(`${path}?${query}`));
      expect(refusal).toMatchObject({ status: 400, code: 'validation_failed', param: query.split('=')[0] });
    }));

  it('returns 404 to another organisation, by id and by slug', () =>
    forEvery(ALL, async (resource) => {
      const slug = { slug: 'only-ours' };
      const id = await make(resource, owner.client, resource.hasSlug ? slug : {});
      const before = await owner.client.read(`${resource.path}/${id}`);
      for (const reference of resource.hasSlug ? [id, slug.slug] : [id]) {
        const at = `${resource.path}/${reference}`;
        const [field, value] = resource.change;
        expect(refusalOf(await stranger.client.get(at))).toEqual(MISSING);
        expect(refusalOf(await stranger.client.patch(at, { [field]: value }))).toEqual(MISSING);
        expect(refusalOf(await stranger.client.delete(at))).toEqual(MISSING);
      }
      expect(idsOf(await stranger.client.list(`${resource.path}?page_size=100`))).not.toContain(id);
      expect(await owner.client.read(`${resource.path}/${id}`)).toEqual(before);
    }));

  it('requires the scope of each action', () =>
    forEvery(ALL, async (resource) => {
      const at = `${resource.path}/${await make(resource)}`;
      const reads = SCOPES.filter((scope) => /[.](read|list)$/.test(scope));
      const { client } = await owner.client.createKey({ scopes: reads });
      expect((await client.get(at)).status).toBe(200);
      expect((await client.get(resource.path)).status).toBe(200);
      const denied = { status: 403, code: 'permission_denied' };
      expect(refusalOf(await client.post(resource.path, bodyOf(resource)))).toMatchObject(denied);
      expect(refusalOf(await client.put(at, {}))).toMatchObject(denied);
      expect(refusalOf(await client.delete(at))).toMatchObject(denied);
    }));
});

/** The field that counts changes, if the resource has one. */
function versionOf(read: JsonObject): JsonObject {
  return 'revision' in read ? { revision: read['revision'] } : {};
}
