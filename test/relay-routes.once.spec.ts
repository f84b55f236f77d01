import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Scope, SCOPES } from '../src/access/scopes.js';
import { BATCH_ROUTES } from '../src/batches/batch.routes.js';
import { FILE_ROUTES } from '../src/batches/file.routes.js';
import { readObject, readString } from '../src/common/json/read.js';
import { hasJsonBody, methodOf, type RelayRoute } from '../src/gateway/relay/relay-route.js';
import { json, type Reply, text } from './support/fake-provider.js';
import { forEvery, pairs } from './support/for-every.js';
import { type Ask, plainly } from './support/openai-client.js';
import { RELAY_ROUTES } from './support/relay-routes.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { addressesOf } from './support/routes.js';
import { type Answer, jsonOf, refusalOf } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const named = (routes: readonly RelayRoute[]) =>
  routes.map((route) => [`${methodOf(route)} ${route.path}`, route] as const);
const WITH_ID = named(RELAY_ROUTES.filter((route) => route.path.includes('{')));
const DELETIONS = named(RELAY_ROUTES.filter((route) => route.kind === 'delete'));
const WITH_JSON = named(RELAY_ROUTES.filter(hasJsonBody));

const READS = named(RELAY_ROUTES.filter((route) => methodOf(route) === 'GET' && route.kind !== 'download'));

const NO_IDS = [
  '.',
  '..',
  '%2e%2e',
  '%2e%2e%2f',
  '..%2f..%2fmodels',
  'a%2F',
  '%2Fa',
  'a%2F%2Fb',
  'a%2F..%2Fb',
  'a%2F.',
  'a%5Cb',
  'a%3Fb',
  'a%23b',
  'a%20b',
  '%00',
  '%0d%0a',
  '%7f',
  'caf%C3%A9',
  '%zz',
  '%25',
  'x'.repeat(513),
];
const NO_OBJECTS = ['[]', '[{}]', '"text"', '7', 'null', 'true', '{', '{"a":1}{"b":2}'];

/** An answer that is good enough for each of the operations. */
const ANYTHING: Reply = json({
  id: 'x',
  thread_id: 'x',
  output_file_id: 'x',
  object: 'list',
  data: [],
  has_more: false,
});

let gateway: RerankGateway;
let slug: string;
let ask: Ask;
/** Keys that have only this scope, and keys that have every other scope. */
const only = new Map<Scope, string>();
const lacking = new Map<Scope, string>();

beforeAll(async () => {
  gateway = await startRerankGateway();
  slug = await gateway.virtualKey('openai-compatible');
  ask = plainly(gateway, slug);
  gateway.provider.replyWith(ANYTHING);
  for (const scope of new Set(RELAY_ROUTES.map((route) => route.scope))) {
    only.set(scope, await keyWith([scope]));
    lacking.set(scope, await keyWith(SCOPES.filter((held) => held !== scope)));
  }
});
afterAll(() => gateway.close());
beforeEach(afresh);

function afresh(): void {
  gateway.provider.forget();
  gateway.provider.replyWith(ANYTHING);
}

function onEvery<Row>(rows: readonly (readonly [string, Row])[], check: (row: Row) => Promise<void>): Promise<void> {
  return forEvery(rows, (row) => {
    afresh();
    return check(row);
  });
}

async function keyWith(scopes: readonly Scope[], more: object = {}): Promise<string> {
  const answer = await ask('POST', '/api-keys', { body: { name: 'a key', level: 'organisation', scopes, ...more } });
  return readString(jsonOf(answer)['key'], 'key');
}

const fill = (path: string, id: string): string => path.replaceAll(/\{\w+\}/g, id);

/** A valid request to the route, with these changes. */
function call(
  route: RelayRoute,
  changes: { path?: string; body?: unknown; headers?: Record<string, string | undefined> } = {},
): Promise<Answer> {
  const body = route.kind === 'upload' ? Buffer.from('--x--') : hasJsonBody(route) ? {} : undefined;
  return ask(methodOf(route), changes.path ?? fill(route.path, 'id_1'), { body, ...changes });
}

/** The output of a batch is a file that the batch names. */
const callsOf = (route: RelayRoute): number => (route.kind === 'download' && route.file !== undefined ? 2 : 1);
const expectNothingSent = () => expect(gateway.provider.calls).toHaveLength(0);

const messageOf = (answer: Answer): unknown => readObject(jsonOf(answer)['error'], 'error')['message'];

describe('the tables of routes', () => {
  it('serves every route of the tables', () => {
    const served = new Set(addressesOf(gateway.app.app).map(({ method, path }) => `${method} ${path}`));
    const wanted = RELAY_ROUTES.map((route) => `${methodOf(route)} /v1${route.path.replaceAll(/\{(\w+)\}/g, ':$1')}`);
    expect(wanted.filter((address) => !served.has(address))).toEqual([]);
  });

  it('names each operation once, in the area that it belongs to', () => {
    const operations = RELAY_ROUTES.map((route) => route.operation);
    expect(new Set(operations).size).toBe(operations.length);
    expect(FILE_ROUTES.every(({ operation }) => operation.startsWith('files.'))).toBe(true);
    expect(BATCH_ROUTES.every(({ operation }) => operation.startsWith('batches.'))).toBe(true);
  });

  it('hides no route behind one whose parameter would match it', () => {
    const hidden = RELAY_ROUTES.filter((route) => {
      const taken = RELAY_ROUTES.find(
        (other) =>
          methodOf(other) === methodOf(route) &&
          new RegExp(`^${fill(other.path, '[^/]+')}$`).test(fill(route.path, 'id_1')),
      );
      return taken !== route;
    });
    expect(hidden).toEqual([]);
  });
});

describe('a relay route', () => {
  it('requires the scope of a relay route, and no other scope', () =>
    onEvery(named(RELAY_ROUTES), async (route) => {
      const refused = await call(route, { headers: { 'x-gateway-api-key': lacking.get(route.scope) ?? '' } });
      expect(refusalOf(refused)).toMatchObject({ status: 403, code: 'permission_denied' });
      expect(messageOf(refused)).toContain(route.scope);
      expectNothingSent();
      expect((await call(route, { headers: { 'x-gateway-api-key': only.get(route.scope) ?? '' } })).status).toBe(200);
      expect(gateway.provider.calls).toHaveLength(callsOf(route));
    }));

  it('requires both keys on a relay route', () =>
    onEvery(named(RELAY_ROUTES), async (route) => {
      const keyless = await call(route, { headers: { 'x-gateway-api-key': undefined } });
      expect(refusalOf(keyless)).toMatchObject({ status: 401, code: 'api_key_invalid' });
      const unnamed = await call(route, { headers: { 'x-gateway-virtual-key': undefined } });
      expect(refusalOf(unnamed)).toMatchObject({
        status: 400,
        code: 'virtual_key_required',
        param: 'x-gateway-virtual-key',
      });
      const unknown = await call(route, { headers: { 'x-gateway-virtual-key': 'nobodys' } });
      expect(refusalOf(unknown)).toMatchObject({ status: 404, code: 'virtual_key_not_found' });
      expectNothingSent();
    }));

  it('uses the default virtual key of the API key on a relay route, and none that the key may not use', async () => {
    const bounds = { allowed_virtual_keys: [slug], default_virtual_key: slug };
    const key = await keyWith(SCOPES, bounds);
    await onEvery(named(RELAY_ROUTES), async (route) => {
      const headers = { 'x-gateway-api-key': key };
      const answer = await call(route, { headers: { ...headers, 'x-gateway-virtual-key': undefined } });
      expect([answer.status, answer.headers['x-gateway-virtual-key-used']]).toEqual([200, slug]);
      expect(gateway.provider.calls).toHaveLength(callsOf(route));
      afresh();
      const refused = await call(route, { headers: { ...headers, 'x-gateway-virtual-key': 'local' } });
      expect(refusalOf(refused)).toMatchObject({ status: 403, code: 'model_not_allowed' });
      expectNothingSent();
    });
  });

  it('takes the virtual key of a relay route from the model, which the provider receives without it', () =>
    onEvery(WITH_JSON, async (route) => {
      const headers = { 'x-gateway-virtual-key': undefined };
      const answer = await call(route, { headers, body: { model: `@${slug}/org/a-model`, n: 1 } });
      expect([answer.status, answer.headers['x-gateway-model']]).toEqual([200, 'org/a-model']);
      expect(gateway.provider.calls.map(({ body }) => body)).toEqual(['{"model":"org/a-model","n":1}']);
    }));

  it('refuses every model of a relay route that the API key may not use', async () => {
    const key = await keyWith(SCOPES, { allowed_models: ['gpt-4o*'] });
    const bodies = [{ model: 'o3' }, { Model: 'o3' }, { model: 'gpt-4o', grader: { model: 'o3' } }];
    await onEvery(WITH_JSON, async (route) => {
      for (const body of bodies) {
        const refused = await call(route, { headers: { 'x-gateway-api-key': key }, body });
        expect(refusalOf(refused)).toMatchObject({ status: 403, code: 'model_not_allowed', param: 'model' });
      }
      expectNothingSent();
    });
  });

  it('refuses work whose model is not in the request to an API key with allowed models', async () => {
    const [some, all] = [
      await keyWith(SCOPES, { allowed_models: ['gpt-4o'] }),
      await keyWith(SCOPES, { allowed_models: ['*'] }),
    ];
    const working = RELAY_ROUTES.filter(({ models }) => models !== undefined);
    expect(working.length).toBeGreaterThan(4);
    await onEvery(named(working), async (route) => {
      const refused = await call(route, { headers: { 'x-gateway-api-key': some } });
      expect(refusalOf(refused)).toMatchObject({ status: 403, code: 'model_not_allowed' });
      expectNothingSent();
      const named = await call(route, { headers: { 'x-gateway-api-key': some }, body: { model: 'gpt-4o' } });
      expect(named.status).toBe(route.models === 'in_body' ? 200 : 403);
      expect((await call(route, { headers: { 'x-gateway-api-key': all } })).status).toBe(200);
    });
  });

  it('sends no model twice for an API key with allowed models', async () => {
    const key = await keyWith(SCOPES, { allowed_models: ['gpt-4o'] });
    const body = Buffer.from('{"model":"o3","model":"gpt-4o"}');
    const headers = { 'x-gateway-api-key': key, 'content-type': 'application/json' };
    const answer = await ask('POST', '/fine_tuning/jobs', { headers, body });
    expect([answer.status, gateway.provider.calls.map((sent) => sent.body)]).toEqual([200, ['{"model":"gpt-4o"}']]);
  });

  it('accepts both keys of a relay route under all documented names of the headers', () =>
    onEvery(named(RELAY_ROUTES), async (route) => {
      const aliases = { 'x-portkey-api-key': ADMIN_KEY, 'x-portkey-virtual-key': slug };
      const answer = await call(route, {
        headers: { 'x-gateway-api-key': undefined, 'x-gateway-virtual-key': undefined, ...aliases },
      });
      expect(answer.status).toBe(200);
      const sent = JSON.stringify(gateway.provider.calls.map(({ headers }) => headers));
      expect(sent).not.toMatch(/x-portkey|x-gateway-(?:api|virtual)-key/);
    }));

  it('refuses unknown query parameters on a relay route', () =>
    onEvery(pairs(named(RELAY_ROUTES), ['zzz', 'api_version', 'limit[]', 'before[x]']), async ([route, name]) => {
      const answer = await call(route, { path: `${fill(route.path, 'id_1')}?${name}=1` });
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: name });
      expectNothingSent();
    }));

  it('refuses an id that is not valid', () =>
    onEvery(pairs(WITH_ID, NO_IDS), async ([route, id]) => {
      const answer = await call(route, { path: fill(route.path, id) });
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', source: 'gateway' });
      expectNothingSent();
    }));

  it('refuses a body that is not a JSON object', () =>
    onEvery(pairs(WITH_JSON, NO_OBJECTS), async ([route, body]) => {
      const answer = await call(route, { body });
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', source: 'gateway' });
      expectNothingSent();
    }));

  it('refuses a body without the content type of JSON', () =>
    onEvery(WITH_JSON, async (route) => {
      const answer = await call(route, { body: '{}', headers: { 'content-type': 'text/plain' } });
      expect(refusalOf(answer)).toMatchObject({ status: 415, code: 'unsupported_media_type' });
      expectNothingSent();
    }));

  it('reports a failed read when the provider returns something else', () =>
    onEvery(READS, async (route) => {
      gateway.provider.replyWith(json({ foo: 1 }));
      expect(refusalOf(await call(route))).toMatchObject({ status: 502, code: 'provider_invalid_response' });
    }));
});

describe('a deletion', () => {
  const object = {
    files: 'file',
    assistants: 'assistant.deleted',
    threads: 'thread.deleted',
    'threads.messages': 'thread.message.deleted',
    responses: 'response',
    vector_stores: 'vector_store.deleted',
    'vector_stores.files': 'vector_store.file.deleted',
    'fine_tuning.checkpoints.permissions': 'checkpoint.permission',
  };
  const pathOf = (route: RelayRoute) => route.path.replace(/\{\w+\}$/, 'the_one').replaceAll(/\{\w+\}/g, 'another');

  it('returns the documented form of a deletion when the provider returns only its success', () =>
    onEvery(pairs(DELETIONS, [204, 200]), async ([route, status]) => {
      gateway.provider.replyWith(text('', 'application/json', status));
      const answer = await call(route, { path: pathOf(route) });
      expect(answer.status).toBe(200);
      const resource = route.operation.replace('.delete', '');
      expect(Object.entries(object)).toContainEqual([resource, jsonOf(answer)['object']]);
      expect(jsonOf(answer)).toEqual({ id: 'the_one', object: expect.any(String), deleted: true });
    }));

  it('reports a failed deletion when the provider returns an unreadable answer', () =>
    onEvery(DELETIONS, async (route) => {
      gateway.provider.replyWith(text('<p>', 'text/html'));
      const answer = await call(route, { path: pathOf(route) });
      expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_invalid_response' });
    }));
});

it('reports a failure when any other operation gets an empty answer', async () => {
  gateway.provider.replyWith(text('', 'application/json'));
  const answer = await ask('GET', '/files/file-1');
  expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'provider_invalid_response' });
});
