import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderObject } from '../src/gateway/relay/provider-object.entity.js';
import { batches, cursorPages } from './support/fake-openai.js';
import { json, type Reply } from './support/fake-provider.js';
import { type RerankGateway, startRerankGateway } from './support/rerank-gateway.js';
import { ADMIN_KEY } from './support/test-app.js';

describe('isolation of workspaces that share a provider account', () => {
  let gateway: RerankGateway;
  let strict: string;
  let open: string;
  const keys: string[] = [];

  beforeAll(async () => {
    gateway = await startRerankGateway();
    strict = await gateway.virtualKey('openai-compatible', { config: { isolation: 'strict' } });
    open = await gateway.virtualKey('openai-compatible');
    for (const slug of ['team-a', 'team-b']) {
      await call('POST', '/workspaces', { key: ADMIN_KEY, body: { name: slug, slug } });
      const scopes = [
        'batches.create',
        'batches.list',
        'batches.read',
        'batches.update',
        'threads.create',
        'threads.list',
      ];
      const created = await call('POST', '/api-keys', {
        key: ADMIN_KEY,
        body: { name: slug, workspace_id: slug, scopes },
      });
      keys.push(created.json.key);
    }
  });
  afterAll(() => gateway.close());
  beforeEach(() => gateway.provider.forget());

  interface Answer {
    readonly id: string;
    readonly key: string;
    readonly data: readonly { readonly id: string }[];
    readonly last_id: string;
    readonly has_more: boolean;
  }

  interface Options {
    readonly key: string | undefined;
    readonly virtualKey?: string;
    readonly body?: unknown;
  }

  async function call(method: string, path: string, { key = '', virtualKey = strict, body }: Options) {
    const answer = await fetch(`${gateway.app.url}/v1${path}`, {
      method,
      headers: { 'x-gateway-api-key': key, 'x-gateway-virtual-key': virtualKey, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const json: Answer = JSON.parse(await answer.text());
    return { status: answer.status, json };
  }

  /** Creates batches, after each of them others for clients without a gateway, and lists all, newest first. */
  function account(others = 0): Reply {
    const made: { readonly id: string }[] = [];
    return (response, request) => {
      if (request.method !== 'POST') return cursorPages(made)(response, request);
      const [batch] = batches(made.length + 1);
      made.splice(0, made.length, ...batches(made.length + 1 + others));
      return json(batch)(response, request);
    };
  }

  const create = (key: string | undefined) => call('POST', '/batches', { key, body: { endpoint: '/v1/embeddings' } });

  it("lists only the workspace's own objects with correct paging", async () => {
    gateway.provider.replyWith(account(7));
    const [teamA, teamB] = keys;
    const own: string[] = [];
    for (let round = 0; round < 12; round += 1) {
      own.unshift((await create(teamA)).json.id);
      await create(teamB);
    }
    const seen: string[] = [];
    let after = '';
    for (let page = 0; page < 5; page += 1) {
      const { json: list } = await call('GET', `/batches?limit=5${after}`, { key: teamA });
      seen.push(...list.data.map((item) => item.id));
      expect(list.last_id).toBe(list.data.at(-1)?.id);
      if (!list.has_more) break;
      after = `&after=${list.last_id}`;
    }
    expect(seen).toEqual(own);
  });

  it("finds only the workspace's own objects, by id or inside a body", async () => {
    gateway.provider.replyWith(account());
    const [teamA, teamB] = keys;
    const { id } = (await create(teamA)).json;
    gateway.provider.replyWith(json({ id }));
    gateway.provider.forget();
    expect((await call('GET', `/batches/${id}`, { key: teamA })).status).toBe(200);
    for (const [method, path, body] of [
      ['GET', `/batches/${id}`, undefined],
      ['POST', `/batches/${id}/cancel`, {}],
      ['POST', '/batches', { input_file_id: 'file-of-others' }],
      ['GET', '/threads/thread_of_others/runs', undefined],
    ] as const) {
      const refused = await call(method, path, { key: teamB, body });
      expect(refused).toMatchObject({ status: 404, json: { error: { code: 'not_found', source: 'gateway' } } });
    }
    expect(gateway.provider.calls).toHaveLength(1);
  });

  describe('isolation across several servers of one provider', () => {
    const strictAt = (path: string): Promise<string> =>
      gateway.virtualKey('openai-compatible', { path, config: { isolation: 'strict' } });
    const read = async (id: string, of: { readonly key: string | undefined; readonly virtualKey: string }) => {
      gateway.provider.replyWith(json({ id }));
      return (await call('GET', `/batches/${id}`, of)).status;
    };

    it('assigns an object to its creator at one server, despite an equal id at another', async () => {
      const [teamA, teamB] = keys;
      const [here, there] = [await strictAt('/here'), await strictAt('/there')];
      gateway.provider.replyWith(json({ id: 'batch_1' }));
      await call('POST', '/batches', { key: teamA, virtualKey: here, body: {} });
      await call('POST', '/batches', { key: teamB, virtualKey: there, body: {} });
      expect(await read('batch_1', { key: teamA, virtualKey: here })).toBe(200);
      expect(await read('batch_1', { key: teamB, virtualKey: there })).toBe(200);
      expect(await read('batch_1', { key: teamB, virtualKey: here })).toBe(404);
      expect(await read('batch_1', { key: teamA, virtualKey: there })).toBe(404);
    });

    it("treats two spellings of a server's address as one server", async () => {
      const [teamA, teamB] = keys;
      const [bare, versioned] = [await strictAt('/spelled'), await strictAt('/spelled/v1/')];
      gateway.provider.replyWith(json({ id: 'batch_2' }));
      await call('POST', '/batches', { key: teamA, virtualKey: bare, body: {} });
      expect(await read('batch_2', { key: teamA, virtualKey: versioned })).toBe(200);
      expect(await read('batch_2', { key: teamB, virtualKey: versioned })).toBe(404);
    });

    it('keeps an object that was recorded without a server with its owner', async () => {
      const [teamA, teamB] = keys;
      gateway.provider.replyWith(json({ id: 'batch_3' }));
      await create(teamA);
      await gateway.app.dataSource.getRepository(ProviderObject).update({ upstreamId: 'batch_3' }, { server: null });
      expect(await read('batch_3', { key: teamA, virtualKey: strict })).toBe(200);
      expect(await read('batch_3', { key: teamB, virtualKey: strict })).toBe(404);
    });
  });

  it('passes everything through without isolation', async () => {
    gateway.provider.replyWith(cursorPages(batches(3)));
    const { json: list } = await call('GET', '/batches', { key: keys[1], virtualKey: open });
    expect(list.data).toHaveLength(3);
  });
});
