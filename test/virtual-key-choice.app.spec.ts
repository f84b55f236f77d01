import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readArray, readString } from '../src/common/json/read.js';
import { eventually } from './support/eventually.js';
import { json, onlyCall } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { type RerankGateway, startRerankGateway, VALID } from './support/rerank-gateway.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { addTenant } from './support/tenants.js';

const SCOPES = ['completions.write', 'api_keys.create', 'api_keys.update'];
const NOT_ALLOWED = { status: 403, code: 'model_not_allowed' };
const NOT_FOUND = { status: 404, code: 'model_not_found', param: 'model' };
const DENIED = { status: 403, code: 'permission_denied' };

let gateway: RerankGateway;
let admin: GatewayClient;
/** A virtual key of Cohere, and its id. */
let slug: string;
let id: string;

beforeAll(async () => {
  gateway = await startRerankGateway();
  admin = new GatewayClient(gateway.app.url);
  slug = await gateway.virtualKey('cohere');
  id = await idOf(slug);
});
afterAll(() => gateway.close());
beforeEach(() => {
  gateway.provider.forget();
  gateway.provider.replyWith(json({ id: 'r-1', results: [{ index: 0, relevance_score: 1 }] }));
});

async function idOf(ref: string): Promise<string> {
  return readString((await admin.read(`/v1/virtual-keys/${ref}`))['id'], 'id');
}

/** A rerank by a client that can take an address and a key only. */
function rerank(key: string, model: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  return send(`${gateway.app.url}/rerank`, {
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...VALID, model }),
  });
}

async function keyWith(fields: object): Promise<{ readonly id: string; readonly key: string }> {
  return admin.createKey({ scopes: SCOPES, ...fields });
}

const headersOf = (answer: Answer): readonly unknown[] => [
  answer.status,
  answer.headers['x-gateway-virtual-key-used'],
  answer.headers['x-gateway-model'],
];

const sentModel = (): unknown => Reflect.get(JSON.parse(onlyCall(gateway.provider).body), 'model');
const messageOf = (answer: Answer): string => JSON.stringify(jsonOf(answer)['error']);

describe('the virtual key in the model', () => {
  it.each([
    ['@SLUG/rerank-v3.5', 'rerank-v3.5'],
    ['SLUG/rerank-v3.5', 'rerank-v3.5'],
    ['@SLUG/BAAI/bge-reranker', 'BAAI/bge-reranker'],
    ['@SLUG/@cf/baai/bge', '@cf/baai/bge'],
  ])('is taken from %s, and the provider receives %s', async (model, name) => {
    const answer = await rerank(ADMIN_KEY, model.replace('SLUG', slug));
    expect(headersOf(answer)).toEqual([200, slug, name]);
    expect([sentModel(), jsonOf(answer)['model']]).toEqual([name, name]);
  });

  it('is not in the ledger with the model', async () => {
    await rerank(ADMIN_KEY, `@${slug}/a-model-of-the-ledger`);
    const report = async (): Promise<string> => JSON.stringify(await admin.read('/v1/usage?group_by=model'));
    await eventually(async () => (await report()).includes('a-model-of-the-ledger'));
    expect(await report()).toContain('"model":"a-model-of-the-ledger"');
  });

  it('changes the model in the bytes of the request and nothing else', async () => {
    const body = `{ "model" : "@${slug}/m", "query":"q" ,"documents":["\\u0061"]}`;
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
    await send(`${gateway.app.url}/v2/rerank`, { headers, body });
    expect(onlyCall(gateway.provider).body).toBe(body.replace(`"@${slug}/m"`, '"m"'));
  });

  it.each(['@nowhere/m', '@local', 'nowhere/m', 'm', '@/m', '@SLUG/'])(
    'must be one that the caller can use: %s',
    async (model) => {
      const answer = await rerank(ADMIN_KEY, model.replace('SLUG', slug));
      expect(refusalOf(answer)).toMatchObject(NOT_FOUND);
      expect(messageOf(answer)).toContain(`@${slug}/<model>, @local/<model>`);
      expect(gateway.provider.calls).toEqual([]);
    },
  );

  it('is not one of another organisation', async () => {
    const other = await addTenant(gateway.app, 'other');
    await other.client.create('/v1/virtual-keys', { name: 'x', slug: 'theirs', provider: 'local' });
    const answer = await rerank(ADMIN_KEY, '@theirs/m');
    expect(refusalOf(answer)).toMatchObject(NOT_FOUND);
    expect(messageOf(answer)).not.toContain('theirs');
  });

  it('is taken off when the header names the same', async () => {
    const header = { 'x-gateway-virtual-key': slug };
    expect(headersOf(await rerank(ADMIN_KEY, `@${slug}/m`, header))).toEqual([200, slug, 'm']);
  });

  it.each(['@cf/baai/bge', '@SLUG/@local/m', 'local/m'])('is not looked for beside the header: %s', async (given) => {
    const header = { 'x-gateway-virtual-key': slug };
    const model = given.replace('SLUG', slug);
    const own = model.replace(`@${slug}/`, '');
    expect(headersOf(await rerank(ADMIN_KEY, model, header))).toEqual([200, slug, own]);
    expect(sentModel()).toBe(own);
  });

  it('must not be another one than that of the header', async () => {
    const answer = await rerank(ADMIN_KEY, '@local/m', { 'x-gateway-virtual-key': slug });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: 'model' });
    expect(messageOf(answer)).toContain(`names the virtual key ${slug}, and model names local.`);
    expect(gateway.provider.calls).toEqual([]);
  });

  it.each([undefined, null, 7, ''])('is not looked for in the model %j', async (model) => {
    const { key } = await keyWith({ default_virtual_key: slug });
    expect(refusalOf(await rerank(key, model))).toMatchObject({ status: 400, param: 'model' });
    const code = model === '' ? 'model_not_found' : 'virtual_key_required';
    expect(refusalOf(await rerank(ADMIN_KEY, model))).toMatchObject({ code });
  });

  it('lists at most 20 virtual keys to a caller without one', async () => {
    const workspace = await admin.createWorkspace('Many');
    const names = Array.from({ length: 25 }, (_, index) => `many-${String(index).padStart(2, '0')}`);
    for (const name of names) {
      await admin.create('/v1/virtual-keys', { name, slug: name, provider: 'local', workspace_id: workspace });
    }
    const { client } = await admin.createKey({ level: 'workspace', workspace_id: workspace, scopes: SCOPES });
    const answer = await client.post('/v1/rerank', VALID);
    expect(messageOf(answer).match(/<model>/g)).toHaveLength(20);
  });
});

describe('the default virtual key of an API key', () => {
  it.each([() => slug, () => id])('can be given by slug and by id, and is shown by its id', async (ref) => {
    const { id: keyId, key } = await keyWith({ default_virtual_key: ref() });
    expect(await admin.read(`/v1/api-keys/${keyId}`)).toMatchObject({ default_virtual_key: id });
    expect(await admin.as(key).read('/v1/me')).toMatchObject({ default_virtual_key: id, allowed_models: null });
    expect(headersOf(await rerank(key, 'BAAI/bge'))).toEqual([200, slug, 'BAAI/bge']);
    expect(sentModel()).toBe('BAAI/bge');
  });

  it('is used after the header and the model', async () => {
    const { key } = await keyWith({ default_virtual_key: 'local' });
    expect(headersOf(await rerank(key, 'm', { 'x-gateway-virtual-key': slug }))).toEqual([200, slug, 'm']);
    expect(headersOf(await rerank(key, `${slug}/m`))).toEqual([200, slug, 'm']);
    expect(headersOf(await rerank(key, 'm'))).toEqual([200, 'local', 'm']);
    expect(refusalOf(await rerank(key, '@nowhere/m'))).toMatchObject(NOT_FOUND);
  });

  it('can be changed and taken away', async () => {
    const { id: keyId, key } = await keyWith({ default_virtual_key: slug });
    await admin.patch(`/v1/api-keys/${keyId}`, { default_virtual_key: 'local' });
    expect(headersOf(await rerank(key, 'm'))).toEqual([200, 'local', 'm']);
    const read = await admin.read(`/v1/api-keys/${keyId}`);
    expect((await admin.put(`/v1/api-keys/${keyId}`, read)).status).toBe(200);
    await admin.patch(`/v1/api-keys/${keyId}`, { default_virtual_key: null });
    expect(refusalOf(await rerank(key, 'm'))).toMatchObject(NOT_FOUND);
  });

  it('must be one that the API key can use', async () => {
    const workspace = await admin.createWorkspace('Elsewhere');
    const elsewhere = { name: 'elsewhere', slug: 'elsewhere', provider: 'local', workspace_id: workspace };
    await admin.create('/v1/virtual-keys', elsewhere);
    const here = await admin.createWorkspace('Here');
    const fields = { name: 'k', scopes: SCOPES, workspace_id: here };
    for (const ref of ['nowhere', 'elsewhere', await idOf('elsewhere'), "'; --"]) {
      const answer = await admin.post('/v1/api-keys', { ...fields, default_virtual_key: ref });
      expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'default_virtual_key' });
    }
    const bounds = { allowed_virtual_keys: [slug], default_virtual_key: 'local' };
    const answer = await admin.post('/v1/api-keys', { ...fields, ...bounds });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'default_virtual_key' });
    const shared = await keyWith({ allowed_virtual_keys: [slug], default_virtual_key: slug });
    const changed = await admin.patch(`/v1/api-keys/${shared.id}`, { allowed_virtual_keys: ['local'] });
    expect(refusalOf(changed)).toMatchObject({ status: 400, param: 'default_virtual_key' });
  });

  it('cannot be deleted', async () => {
    const inUse = await gateway.virtualKey('jina');
    const { id: keyId } = await keyWith({ default_virtual_key: inUse });
    expect(refusalOf(await admin.delete(`/v1/virtual-keys/${inUse}`))).toMatchObject({ status: 409, code: 'conflict' });
    await admin.delete(`/v1/api-keys/${keyId}`);
    expect((await admin.delete(`/v1/virtual-keys/${inUse}`)).status).toBe(204);
  });
});

describe('the access of an API key to providers', () => {
  it('is bounded to its models, however they are named', async () => {
    const { key } = await keyWith({ allowed_models: ['rerank-*', `@${slug}/command`] });
    for (const model of [`@${slug}/rerank-v3.5`, `${slug}/Rerank-V4`, `@${slug}/command`, '@local/rerank-x']) {
      expect([model, (await rerank(key, model)).status]).toEqual([model, 200]);
    }
    gateway.provider.forget();
    for (const [model, headers] of [
      [`@${slug}/other`, {}],
      ['@local/command', {}],
      ['other', { 'x-gateway-virtual-key': slug }],
      ['x'.repeat(600), { 'x-gateway-virtual-key': slug }],
    ] as const) {
      const answer = await rerank(key, model, headers);
      expect(refusalOf(answer)).toMatchObject({ ...NOT_ALLOWED, param: 'model' });
      expect(headersOf(answer)).toEqual([403, undefined, undefined]);
    }
    expect(gateway.provider.calls).toEqual([]);
  });

  it('is bounded to its virtual keys, however they are named', async () => {
    const { key } = await keyWith({ allowed_virtual_keys: [slug] });
    expect(headersOf(await rerank(key, `@${slug}/m`))).toEqual([200, slug, 'm']);
    expect(refusalOf(await rerank(key, '@local/m'))).toMatchObject({ ...NOT_ALLOWED, param: 'model' });
    const byHeader = await rerank(key, 'm', { 'x-gateway-virtual-key': 'local' });
    expect(refusalOf(byHeader)).toMatchObject({ ...NOT_ALLOWED, param: 'x-gateway-virtual-key' });
    const unnamed = await rerank(key, 'local/m');
    expect(refusalOf(unnamed)).toMatchObject(NOT_FOUND);
    expect(messageOf(unnamed)).toContain(`The caller can use @${slug}/<model>.`);
  });

  it('stays bounded when its only virtual key is deleted', async () => {
    const only = await gateway.virtualKey('jina');
    const { id, key } = await keyWith({ allowed_virtual_keys: [only] });
    await admin.delete(`/v1/virtual-keys/${only}`);
    expect(refusalOf(await rerank(key, '@local/m'))).toMatchObject(NOT_ALLOWED);
    const at = `/v1/api-keys/${id}`;
    const read = await admin.read(at);
    expect(jsonOf(await admin.put(at, read))).toEqual(read);
    const gone = readArray(read['allowed_virtual_keys'], 'allowed_virtual_keys')[0];
    const moved = await admin.patch(`/v1/api-keys/${(await keyWith({})).id}`, { allowed_virtual_keys: [gone] });
    expect(refusalOf(moved)).toMatchObject({ status: 400, param: 'allowed_virtual_keys.0' });
  });

  it('is nothing with empty lists', async () => {
    const { key: noModel } = await keyWith({ allowed_models: [], default_virtual_key: 'local' });
    expect(refusalOf(await rerank(noModel, 'm'))).toMatchObject(NOT_ALLOWED);
    const { key: noVirtualKey } = await keyWith({ allowed_virtual_keys: [] });
    expect(refusalOf(await rerank(noVirtualKey, '@local/m'))).toMatchObject(NOT_ALLOWED);
    expect(messageOf(await rerank(noVirtualKey, 'm'))).toContain('The caller can use no virtual key.');
  });

  it.each([
    [{ allowed_models: ['a*b'] }, 'allowed_models'],
    [{ allowed_models: [''] }, 'allowed_models'],
    [{ allowed_models: [7] }, 'allowed_models'],
    [{ allowed_models: 'm' }, 'allowed_models'],
    [{ allowed_models: Array.from({ length: 101 }, () => 'm') }, 'allowed_models'],
    [{ allowed_virtual_keys: ['local', 'nowhere'] }, 'allowed_virtual_keys.1'],
    [{ allowed_virtual_keys: Array.from({ length: 101 }, () => 'local') }, 'allowed_virtual_keys'],
    [{ default_virtual_key: ['local'] }, 'default_virtual_key'],
  ])('must be valid: %j', async (fields, param) => {
    const answer = await admin.post('/v1/api-keys', { name: 'k', level: 'organisation', scopes: SCOPES, ...fields });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param });
  });

  it.each([
    [{}, 'allowed_models'],
    [{ allowed_models: null }, 'allowed_models'],
    [{ allowed_models: ['*'] }, 'allowed_models'],
    [{ allowed_models: ['rerank-v3', 'rerank*'] }, 'allowed_models'],
    [{ allowed_models: ['rerank-v3'] }, 'allowed_virtual_keys'],
    [{ allowed_models: ['rerank-v3'], allowed_virtual_keys: ['local'] }, 'allowed_virtual_keys'],
  ])('cannot be passed on without its bounds: %j', async (fields, param) => {
    const { key } = await keyWith({ allowed_models: ['rerank-*'], allowed_virtual_keys: [slug] });
    const wanted = { name: 'k', level: 'organisation', scopes: SCOPES };
    expect(refusalOf(await admin.as(key).post('/v1/api-keys', { ...wanted, ...fields }))).toMatchObject({
      ...DENIED,
      param,
    });
    const within = { allowed_models: ['rerank-v*'], allowed_virtual_keys: [slug] };
    expect((await admin.as(key).post('/v1/api-keys', { ...wanted, ...within })).status).toBe(201);
  });

  it('cannot be widened by an update, nor reached by rotating a wider key', async () => {
    const { id: own, key } = await keyWith({ allowed_models: ['rerank-*'] });
    const wider = await keyWith({ allowed_models: ['*'] });
    const widened = await admin.as(key).patch(`/v1/api-keys/${own}`, { allowed_models: null });
    expect(refusalOf(widened)).toMatchObject({ ...DENIED, param: 'allowed_models' });
    const rotated = await admin.as(key).post(`/v1/api-keys/${wider.id}/rotate`, {});
    expect(refusalOf(rotated)).toMatchObject({ ...DENIED, param: 'allowed_models' });
    expect((await admin.as(key).patch(`/v1/api-keys/${own}`, { allowed_models: ['rerank-v3'] })).status).toBe(200);
  });
});
