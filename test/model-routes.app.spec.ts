// Model routes: names of models that lead to models of virtual keys, and the list of what a caller can name.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import OpenAI from 'openai';
import { readArray, readObject } from '../src/common/json/read.js';
import { onlyCall, text } from './support/fake-provider.js';
import { type Answer, brokenRulesOf, jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const ANSWER = '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}';
const PATH = '/v1/model-routes';

let gateway: UsageGateway;
let slug: string;
let other: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  slug = await gateway.virtualKey('openai-compatible');
  other = await gateway.virtualKey('openai-compatible');
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  gateway.provider.replyWith(text(ANSWER, 'application/json'));
});
afterAll(() => gateway.close());

let made = 0;

/** Makes a route; returns its name. */
async function route(targets: readonly object[], more: object = {}): Promise<string> {
  made += 1;
  const name = `models/route:${made}`;
  await gateway.admin.create(PATH, { name, targets, ...more });
  return name;
}

async function keyOf(fields: object): Promise<string> {
  const created = await gateway.admin.create('/v1/api-keys', {
    name: 'a key',
    scopes: ['completions.write'],
    ...fields,
  });
  return String(created['key']);
}

function chat(model: string, key?: string): Promise<Answer> {
  const client = key === undefined ? gateway.admin : gateway.admin.as(key);
  return client.post('/v1/chat/completions', { model, messages: [], max_tokens: 1 });
}

describe('a call that names a model route', () => {
  it('goes to its target, under the name that its provider knows, and is charged as that', async () => {
    const name = await route([{ virtual_key: slug, model: 'real-model' }]);
    const answer = await chat(name);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'x-gateway-virtual-key-used': slug, 'x-gateway-model': 'real-model' });
    expect(JSON.parse(onlyCall(gateway.provider).body)).toEqual({ model: 'real-model', messages: [], max_tokens: 1 });
    const [row] = await gateway.books.ledger(1);
    expect(row).toMatchObject({ virtualKey: slug, model: 'real-model' });
  });

  it('goes to the first target by order, and a change takes effect at once', async () => {
    const name = await route([
      { virtual_key: slug, model: 'second', order: 1 },
      { virtual_key: other, model: 'first' },
    ]);
    expect((await chat(name)).headers['x-gateway-model']).toBe('first');
    const [found] = await gateway.admin.list(`${PATH}?search=${encodeURIComponent(name)}`);
    await gateway.admin.patch(`${PATH}/${String(found?.['id'])}`, { targets: [{ virtual_key: slug, model: 'third' }] });
    expect((await chat(name)).headers['x-gateway-model']).toBe('third');
    await gateway.admin.delete(`${PATH}/${String(found?.['id'])}`);
    expect(refusalOf(await chat(name))).toMatchObject({ status: 404, code: 'model_not_found', param: 'model' });
  });

  it('skips a virtual key that has expired, and says when none is left', async () => {
    const soon = Math.floor(gateway.app.clock.now().getTime() / 1_000) + 60;
    const ending = await gateway.virtualKey('openai-compatible');
    await gateway.admin.patch(`/v1/virtual-keys/${ending}`, { expires_at: soon });
    const name = await route([
      { virtual_key: ending, model: 'first' },
      { virtual_key: slug, model: 'second', order: 1 },
    ]);
    const alone = await route([{ virtual_key: ending, model: 'first' }]);
    expect((await chat(name)).headers['x-gateway-model']).toBe('first');
    gateway.app.clock.advance(61_000);
    expect((await chat(name)).headers['x-gateway-model']).toBe('second');
    expect(refusalOf(await chat(alone))).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('comes before the default virtual key, and after a prefix', async () => {
    const name = await route([{ virtual_key: other, model: 'routed' }]);
    const key = await keyOf({ level: 'organisation', default_virtual_key: slug });
    expect((await chat(name, key)).headers['x-gateway-model']).toBe('routed');
    expect((await chat(`@${slug}/${name}`, key)).headers).toMatchObject({
      'x-gateway-virtual-key-used': slug,
      'x-gateway-model': name,
    });
    expect((await chat('not-a-route', key)).headers['x-gateway-model']).toBe('not-a-route');
  });

  it('works wherever a model is named: embeddings, messages, rerank, fine-tuning', async () => {
    const name = await route([{ virtual_key: slug, model: 'routed' }]);
    const paths = [
      '/v1/embeddings',
      '/v1/messages',
      '/v1/responses',
      '/v1/completions',
      '/v1/fine_tuning/jobs',
      '/v1/rerank',
    ];
    for (const path of paths) {
      gateway.provider.forget();
      const body = { model: name, max_tokens: 1, input: 'x', query: 'q', documents: ['d'], training_file: 'f' };
      await gateway.admin.post(path, path === '/v1/rerank' ? { model: name, query: 'q', documents: ['d'] } : body);
      expect([path, JSON.parse(onlyCall(gateway.provider).body).model]).toEqual([path, 'routed']);
    }
  });

  it('means the route of its own workspace first', async () => {
    const workspace = await gateway.admin.create('/v1/workspaces', { name: 'routes' });
    const name = await route([{ virtual_key: slug, model: 'shared' }]);
    await gateway.admin.create(PATH, {
      name,
      workspace_id: workspace['id'],
      targets: [{ virtual_key: slug, model: 'own' }],
    });
    const inside = await keyOf({ workspace_id: workspace['id'] });
    const outside = await keyOf({ workspace_id: 'default' });
    expect((await chat(name, inside)).headers['x-gateway-model']).toBe('own');
    expect((await chat(name, outside)).headers['x-gateway-model']).toBe('shared');
  });

  it('is refused for a key that may use neither the route nor its model, or not the virtual key', async () => {
    const name = await route([{ virtual_key: slug, model: 'routed' }]);
    for (const [allowed, status] of [
      [{ allowed_models: ['another'] }, 403],
      [{ allowed_models: ['routed'] }, 200],
      [{ allowed_models: [name] }, 200],
      [{ allowed_virtual_keys: [other] }, 403],
      [{ allowed_virtual_keys: [slug] }, 200],
    ] as const) {
      const key = await keyOf({ level: 'organisation', ...allowed });
      expect([allowed, (await chat(name, key)).status]).toEqual([allowed, status]);
    }
  });

  it('leads each workspace to the virtual keys that it may use', async () => {
    const { id: workspace_id } = await gateway.admin.create('/v1/workspaces', { name: 'owner of a target' });
    const config = { base_url: gateway.provider.url };
    const owned = { name: 'owned', provider: 'openai-compatible', workspace_id, config };
    const first = { virtual_key: (await gateway.admin.create('/v1/virtual-keys', owned))['slug'], model: 'first' };
    const name = await route([first, { virtual_key: slug, model: 'second', order: 1 }]);
    const alone = await route([first]);
    const [inside, outside] = [await keyOf({ workspace_id }), await keyOf({ workspace_id: 'default' })];
    expect((await chat(name, inside)).headers['x-gateway-model']).toBe('first');
    expect((await chat(name, outside)).headers['x-gateway-model']).toBe('second');
    expect((await chat(alone, inside)).status).toBe(200);
    expect(refusalOf(await chat(alone, outside))).toMatchObject({ status: 404, code: 'model_not_found' });
  });

  it('is not told to a key that may not use it', async () => {
    const name = await route([{ virtual_key: slug, model: 'routed' }]);
    for (const [allowed, isTold] of [
      [{ allowed_virtual_keys: [other] }, false],
      [{ allowed_models: ['another'] }, false],
      [{ allowed_models: ['routed'] }, true],
    ] as const) {
      const key = await keyOf({ level: 'organisation', ...allowed });
      const answer = await chat('nowhere', key);
      expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'model_not_found' });
      expect([allowed, answer.text.includes(name)]).toEqual([allowed, isTold]);
    }
  });

  it('can be limited by the name that the caller wrote', async () => {
    const name = await route([{ virtual_key: slug, model: 'routed' }]);
    await gateway.limit({ conditions: [{ key: 'model_requested', value: name }], type: 'tokens', credit_limit: 1 });
    expect(refusalOf(await chat(name))).toMatchObject({ status: 412, code: 'usage_limit_exceeded' });
    expect((await chat(`@${slug}/routed`)).status).toBe(200);
  });

  it('is made only for models and virtual keys that its maker may use', async () => {
    const scopes = ['model_routes.create', 'model_routes.update', 'completions.write'];
    const bounds = { level: 'organisation', allowed_models: ['cheap-*'], allowed_virtual_keys: [slug] };
    const maker = gateway.admin.as(await keyOf({ ...bounds, scopes }));
    const cheap = { virtual_key: slug, model: 'cheap-model' };
    const { id } = await maker.create(PATH, { name: 'cheap-own', targets: [cheap] });
    const [dear] = await gateway.admin.list(
      `${PATH}?search=${encodeURIComponent(await route([cheap, { ...cheap, model: 'dear-model' }]))}`,
    );
    const isRefused = { status: 403, code: 'permission_denied' };
    for (const [target, param] of [
      [{ ...cheap, model: 'dear-model' }, 'targets.1'],
      [{ ...cheap, virtual_key: other }, 'targets.1'],
    ] as const) {
      const targets = [cheap, target];
      const made = [
        await maker.post(PATH, { name: 'cheap-new', targets }),
        await maker.put(`${PATH}/cheap-put`, { name: 'cheap-put', targets }),
        await maker.patch(`${PATH}/${String(id)}`, { targets }),
      ];
      expect(made.map(refusalOf)).toEqual(made.map(() => expect.objectContaining({ ...isRefused, param })));
    }
    // Under a name that it may use, the models of others would be open to it.
    const renamed = await maker.patch(`${PATH}/${String(dear?.['id'])}`, { name: 'cheap-renamed' });
    expect(refusalOf(renamed)).toMatchObject({ ...isRefused, param: 'targets.1' });
    const described = await maker.patch(`${PATH}/${String(dear?.['id'])}`, { description: 'a note' });
    expect(described.status).toBe(200);
  });
});

describe('a model route', () => {
  it.each([
    [{ name: '@x', targets: [{ virtual_key: 'local', model: 'm' }] }, 'name'],
    [{ name: '', targets: [{ virtual_key: 'local', model: 'm' }] }, 'name'],
    [{ name: 'x'.repeat(256), targets: [{ virtual_key: 'local', model: 'm' }] }, 'name'],
    [{ name: 'x', targets: [] }, 'targets'],
    [{ name: 'x', targets: Array.from({ length: 17 }, () => ({ virtual_key: 'local', model: 'm' })) }, 'targets'],
    [{ name: 'x', targets: [{ virtual_key: 'nowhere', model: 'm' }] }, 'targets.0.virtual_key'],
    [{ name: 'x', targets: [{ virtual_key: 'local' }] }, 'targets.0.model'],
    [{ name: 'x', targets: [{ virtual_key: 'local', model: 'm', order: -1 }] }, 'targets.0.order'],
    [{ name: 'x', targets: [{ virtual_key: 'local', model: 'm' }], on_failure: {} }, 'on_failure'],
  ])('refuses %j', async (body, param) => {
    const answer = await gateway.admin.post(PATH, body);
    expect([answer.status, brokenRulesOf(answer)]).toEqual([400, new Set([param])]);
  });

  it('takes a base model for private names alone', async () => {
    const openai = await gateway.virtualKey('openai');
    const azure = await gateway.virtualKey('azure-openai');
    const body = (virtual_key: string, model: string, base_model: unknown) => {
      return { name: 'based', targets: [{ virtual_key, model, base_model }] };
    };
    for (const [virtual_key, model, base] of [
      [openai, 'gpt-5.4', 'gpt-4o-mini'],
      [openai, 'GPT-5.4-2026-03-05', 'gpt-4o-mini'],
      [openai, 'tuned', ''],
      [openai, 'tuned', 7],
    ] as const) {
      const answer = await gateway.admin.post(PATH, body(virtual_key, model, base));
      expect([model, answer.status, brokenRulesOf(answer)]).toEqual([model, 400, new Set(['targets.0.base_model'])]);
    }
    // A deployment may have the name of a model that it is not.
    const { id } = await gateway.admin.create(PATH, body(azure, 'gpt-5.4', 'gpt-4o-mini'));
    const read = jsonOf(await gateway.admin.get(`${PATH}/${String(id)}`));
    expect(read['targets']).toMatchObject([
      { virtual_key: azure, model: 'gpt-5.4', base_model: 'gpt-4o-mini', order: 0, weight: null },
    ]);
    expect(jsonOf(await gateway.admin.put(`${PATH}/${String(id)}`, read))['targets']).toEqual(read['targets']);
    await gateway.admin.delete(`${PATH}/${String(id)}`);
  });

  it('has its name alone in its workspace', async () => {
    const name = await route([{ virtual_key: slug, model: 'm' }]);
    const again = await gateway.admin.post(PATH, { name, targets: [{ virtual_key: slug, model: 'm' }] });
    expect(refusalOf(again)).toMatchObject({ status: 409, code: 'conflict', param: 'name' });
  });

  it('keeps a target whose virtual key is deleted, and can be written back as it was read', async () => {
    const gone = await gateway.virtualKey('openai-compatible');
    const name = await route([
      { virtual_key: gone, model: 'm' },
      { virtual_key: slug, model: 'left', order: 2 },
    ]);
    expect((await gateway.admin.delete(`/v1/virtual-keys/${gone}`)).status).toBe(204);
    expect((await chat(name)).headers['x-gateway-model']).toBe('left');
    const [found] = await gateway.admin.list(`${PATH}?search=${encodeURIComponent(name)}`);
    const back = await gateway.admin.put(`${PATH}/${String(found?.['id'])}`, found);
    expect([back.status, jsonOf(back)['targets']]).toEqual([200, found?.['targets']]);
  });
});

describe('the list of models', () => {
  const idsOf = (answer: Answer): readonly unknown[] =>
    readArray(jsonOf(answer)['data'], 'data').map((model) => readObject(model, 'model')['id']);

  it('has the routes of the caller, and the known models of its virtual keys', async () => {
    const openai = await gateway.virtualKey('openai');
    const name = await route([{ virtual_key: openai, model: 'gpt-5-mini' }]);
    const key = await keyOf({ level: 'organisation', allowed_virtual_keys: [openai], default_virtual_key: openai });
    const answer = await gateway.admin.as(key).get('/v1/models');
    const ids = idsOf(answer);
    expect(ids).toEqual(expect.arrayContaining([name, 'gpt-5-mini', `@${openai}/gpt-5-mini`]));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => !String(id).startsWith('@') || String(id).startsWith(`@${openai}/`))).toBe(true);
    expect(jsonOf(answer)).toMatchObject({ object: 'list', has_more: false, first_id: ids[0], last_id: ids.at(-1) });
    expect(gateway.provider.calls).toEqual([]);
  });

  it('is there for clients that send what the gateway does not read', async () => {
    const key = gateway.admin.as(await keyOf({ level: 'organisation' }));
    const all = idsOf(await key.get('/v1/models'));
    for (const query of [
      'client_version=0.159.0',
      'type=text&sub_type=chat',
      'scope=picker',
      'a[b]=c',
      '__proto__=x',
    ]) {
      expect([query, idsOf(await key.get(`/v1/models?${query}`))]).toEqual([query, all]);
    }
    expect((await key.get('/models?type=text')).status).toBe(200);
    expect((await key.get('/v1/models?type=text&limit=none')).status).toBe(400);
  });

  it('has what a key may use, and nothing else', async () => {
    const openai = await gateway.virtualKey('openai');
    const name = await route([{ virtual_key: openai, model: 'gpt-5-mini' }]);
    const key = await keyOf({ level: 'organisation', allowed_models: [`@${openai}/gpt-5-mini`] });
    const ids = idsOf(await gateway.admin.as(key).get('/v1/models'));
    expect(ids).toHaveLength(2);
    expect(new Set(ids)).toEqual(new Set([`@${openai}/gpt-5-mini`, name]));
  });

  it('has the models that a key names in full, where no catalogue knows them', async () => {
    const [local, second] = [slug, other];
    const taken = await route([{ virtual_key: await gateway.virtualKey('openai'), model: 'elsewhere' }]);
    const plain = ['Llama3.2:1b', 'hf.co/team/m'];
    // A call of these goes to the route, or to the virtual key of the prefix.
    const lost = [taken, `${local}/m`];
    const allowed_models = [...plain, ...lost, `@${second}/own`, '@none/m', 'qwen*', `@${local}/`];
    const fields = { level: 'organisation', allowed_models, allowed_virtual_keys: [local, second] };
    const key = gateway.admin.as(await keyOf({ ...fields, default_virtual_key: local }));
    const named = [...[...plain, ...lost].map((model) => `@${local}/${model}`), `@${second}/own`];
    expect(new Set(idsOf(await key.get('/v1/models')))).toEqual(new Set([...plain, ...named]));
    for (const id of [...plain, ...named]) {
      expect(jsonOf(await key.get(`/v1/models/${encodeURIComponent(id)}`))).toMatchObject({ id, type: 'model' });
      const called = await key.post('/v1/chat/completions', { model: id, messages: [], max_tokens: 1 });
      expect([id, called.status]).toEqual([id, 200]);
    }
    for (const id of [...lost, '@none/m', 'qwen3', `@${second}/Llama3.2:1b`]) {
      expect((await key.get(`/v1/models/${encodeURIComponent(id)}`)).status).toBe(404);
    }
    const page = jsonOf(await key.get(`/v1/models?limit=1&after_id=${encodeURIComponent('Llama3.2:1b')}`));
    expect(page).toMatchObject({ first_id: 'hf.co/team/m', has_more: true });
    // With two virtual keys and no default, a name without a virtual key leads nowhere.
    expect(idsOf(await gateway.admin.as(await keyOf(fields)).get('/v1/models'))).toEqual([`@${second}/own`]);
    const only = await keyOf({ ...fields, allowed_virtual_keys: [local] });
    expect(idsOf(await gateway.admin.as(only).get('/v1/models'))).toContain(`@${local}/Llama3.2:1b`);
  });

  it('has no model that the gateway cannot call: of Cohere the rerankers alone', async () => {
    const cohere = await gateway.virtualKey('cohere');
    const key = gateway.admin.as(await keyOf({ level: 'organisation', allowed_virtual_keys: [cohere] }));
    const names = ['rerank-english-v3.0', 'rerank-multilingual-v3.0', 'rerank-v3.5'];
    expect(new Set(idsOf(await key.get('/v1/models')))).toEqual(new Set(names.map((name) => `@${cohere}/${name}`)));
    expect((await key.get(`/v1/models/${encodeURIComponent(`@${cohere}/command-a-03-2025`)}`)).status).toBe(404);
  });

  it('is paged as Anthropic does, and read by the SDK of OpenAI', async () => {
    const key = await keyOf({ level: 'organisation' });
    const client = gateway.admin.as(key);
    const all = idsOf(await client.get('/v1/models'));
    expect(all.length).toBeGreaterThan(5);
    const paged: unknown[] = [];
    for (let after = ''; ; after = `&after_id=${encodeURIComponent(String(paged.at(-1)))}`) {
      const page = await client.get(`/v1/models?limit=100${after}`);
      paged.push(...idsOf(page));
      if (jsonOf(page)['has_more'] !== true) break;
    }
    expect(paged).toEqual(all);
    const before = await client.get(`/v1/models?limit=2&before_id=${encodeURIComponent(String(all[4]))}`);
    expect([idsOf(before), jsonOf(before)['has_more']]).toEqual([all.slice(2, 4), true]);
    expect(refusalOf(await client.get('/v1/models?after_id=none'))).toMatchObject({ status: 400, param: 'after_id' });
    const openai = new OpenAI({ baseURL: `${gateway.app.url}/v1`, apiKey: key });
    const seen: string[] = [];
    for await (const model of openai.models.list()) seen.push(model.id);
    expect(seen).toEqual(all);
    expect((await openai.models.retrieve(String(all.at(-1)))).id).toBe(all.at(-1));
  });

  it('has a model by its name, with or without an escaped slash', async () => {
    const openai = await gateway.virtualKey('openai');
    const id = `@${openai}/gpt-5-mini`;
    for (const base of ['/v1/models', '/models', '/openai/v1/models', '/anthropic/v1/models']) {
      for (const name of [encodeURIComponent(id), id]) {
        const model = jsonOf(await gateway.admin.get(`${base}/${name}`));
        expect([base, model]).toMatchObject([base, { id, object: 'model', type: 'model', owned_by: 'openai' }]);
      }
    }
    await gateway.admin.create('/v1/model-routes', {
      name: 'team/chat/fast',
      targets: [{ virtual_key: openai, model: 'gpt-5-mini' }],
    });
    expect(jsonOf(await gateway.admin.get('/v1/models/team/chat/fast'))).toMatchObject({ id: 'team/chat/fast' });
    for (const path of ['/v1/models/none', '/v1/models/none/of/these', '/models/none']) {
      expect(refusalOf(await gateway.admin.get(path))).toMatchObject({ status: 404, code: 'model_not_found' });
    }
  });

  it('refuses in the form of the API that the client speaks', async () => {
    const headers = { 'x-api-key': ADMIN_KEY, 'anthropic-version': '2023-06-01' };
    const refused = await send(`${gateway.app.url}/v1/models/none`, { method: 'GET', headers });
    expect([refused.status, jsonOf(refused)]).toMatchObject([
      404,
      {
        type: 'error',
        error: { type: 'not_found_error', details: { error_code: 'model_not_found' } },
        request_id: refused.headers['x-request-id'],
      },
    ]);
    expect(refused.headers['x-request-id']).toMatch(/^[\da-f-]{36}$/);
    const openai = new OpenAI({ baseURL: `${gateway.app.url}/v1`, apiKey: ADMIN_KEY });
    await expect(openai.models.retrieve('none')).rejects.toMatchObject({ status: 404, code: 'model_not_found' });
  });
});
