import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readString } from '../src/common/json/read.js';
import { ADMIN_KEY } from './support/test-app.js';
import { COST, REQUEST, startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

let gateway: UsageGateway;
/** A key of the workspace `team`, which enforces metadata. */
let team: { readonly id: string; readonly key: string; readonly workspaceId: string };
let adminId: string;

beforeAll(async () => {
  gateway = await startUsageGateway();
  const workspaceId = await gateway.admin.createWorkspace('Team');
  const fields = { scopes: ['completions.write'], level: 'workspace', workspace_id: workspaceId };
  const made = await gateway.admin.createKey({ ...fields, metadata: { team: 'search' } });
  team = { ...made, workspaceId };
  await gateway.admin.create('/v1/virtual-keys', { name: 'Voyage', slug: 'voyage', provider: 'voyage', key: 'k' });
  const keys = await gateway.admin.list('/v1/api-keys');
  adminId = readString(keys.find(({ id }) => id !== team.id)?.['id'], 'id');
});
beforeEach(() => gateway.reset());
afterEach(async () => expect(await gateway.books.faults()).toEqual([]));
afterAll(() => gateway.close());

async function statusWith(metadata: object | undefined, key = ADMIN_KEY): Promise<number> {
  const sent = metadata === undefined ? undefined : JSON.stringify(metadata);
  const { status } = await gateway.call({
    headers: { 'x-gateway-api-key': key, ...(sent === undefined ? {} : { 'x-gateway-metadata': sent }) },
  });
  return status;
}

/** A policy that refuses every call that it matches. */
async function isHit(fields: Readonly<Record<string, unknown>>): Promise<boolean> {
  await gateway.limit({ credit_limit: 0, ...fields });
  return (await statusWith({ user: 'alice', tier: 'free' })) === 412;
}

describe('conditions of a policy', () => {
  it.each([
    ['workspace_id', '*', true],
    ['workspace_id', 'team', false],
    ['virtual_key', 'cohere', true],
    ['virtual_key', ['voyage', 'cohere'], true],
    ['virtual_key', 'voyage', false],
    ['provider', 'cohere', true],
    ['provider', 'jina', false],
    ['model', 'rerank-v3.5', true],
    ['model', 'rerank-*', true],
    ['model', '@cohere/*', true],
    ['model', '@jina/*', false],
    ['endpoint', 'rerank', true],
    ['metadata.user', 'alice', true],
    ['metadata.user', 'bob', false],
    ['metadata.missing', '*', true],
  ])('matches the condition %s = %j', async (key, value, hit) => {
    expect(await isHit({ conditions: [{ key, value }] })).toBe(hit);
  });

  it('matches the ids of the API key and of the organisation', async () => {
    const { organisation_id } = await gateway.admin.read('/v1/workspaces/default');
    expect(await isHit({ conditions: [{ key: 'api_key', value: adminId }] })).toBe(true);
    expect(await isHit({ conditions: [{ key: 'organisation_id', value: organisation_id }] })).toBe(true);
  });

  it('requires all conditions, and lets excludes take precedence', async () => {
    const provider = { key: 'provider', value: 'cohere' };
    expect(await isHit({ conditions: [provider, { key: 'metadata.tier', value: 'paid' }] })).toBe(false);
    expect(await isHit({ conditions: [{ key: 'provider', value: ['cohere', 'jina'], excludes: 'cohere' }] })).toBe(
      false,
    );
    expect(await isHit({ conditions: [provider, { key: 'metadata.tier', value: 'free' }] })).toBe(true);
  });

  it("applies a workspace's policy only to its own calls", async () => {
    await gateway.limit({ credit_limit: 0, workspace_id: team.workspaceId });
    expect(await statusWith({})).toBe(200);
    expect(await statusWith({}, team.key)).toBe(412);
  });

  it('uses the workspace of the virtual key for keys of the organisation', async () => {
    const created = await gateway.admin.create('/v1/virtual-keys', {
      name: 'of the team',
      provider: 'cohere',
      key: 'k',
      config: { base_url: gateway.provider.url },
      workspace_id: team.workspaceId,
    });
    await gateway.limit({ credit_limit: 0, conditions: [{ key: 'workspace_id', value: team.workspaceId }] });
    expect((await gateway.rerank(readString(created['slug'], 'slug'), REQUEST)).status).toBe(412);
    expect((await gateway.call()).status).toBe(200);
  });
});

describe("a workspace's default metadata", () => {
  const DEFAULTS = { tier: 'free', region: 'eu' };
  const limited = { credit_limit: 0, conditions: [{ key: 'metadata.tier', value: 'free' }] };
  /** A key of the whole organisation, which enforces metadata. */
  let enforcing: string;
  /** Virtual keys of the workspace, of all workspaces, and of a workspace without defaults. */
  let own: string;
  let shared: string;
  let plain: string;

  beforeAll(async () => {
    const { admin } = gateway;
    const { id } = await admin.create('/v1/workspaces', { name: 'Defaults', defaults: { metadata: DEFAULTS } });
    const scopes = ['completions.write'];
    ({ key: enforcing } = await admin.createKey({ scopes, metadata: { tier: 'enforced' } }));
    own = await virtualKey({ slug: 'defaults-own', workspace_id: id });
    plain = await virtualKey({ slug: 'defaults-plain', workspace_id: team.workspaceId });
    shared = gateway.cohere;
  });

  async function virtualKey(fields: object): Promise<string> {
    const config = { base_url: gateway.provider.url };
    const made = { name: 'defaults', provider: 'cohere', key: 'k', config, ...fields };
    return readString((await gateway.admin.create('/v1/virtual-keys', made))['slug'], 'slug');
  }

  async function ask(virtualKey: string, metadata: object = {}, key = ADMIN_KEY): Promise<number> {
    const headers = { 'x-gateway-api-key': key, 'x-gateway-metadata': JSON.stringify(metadata) };
    return (await gateway.rerank(virtualKey, REQUEST, { headers })).status;
  }

  it("applies the defaults of the virtual key's workspace to keys of the organisation", async () => {
    await gateway.limit(limited);
    expect(await ask(own)).toBe(412);
    expect([await ask(shared), await ask(plain)]).toEqual([200, 200]);
    await gateway.books.ledger(2);
  });

  it("prefers enforced metadata to the client's, and the client's to the defaults", async () => {
    await gateway.limit(limited);
    expect(await ask(own, { tier: 'mine', user: 'alice' })).toBe(200);
    expect(await ask(own, { tier: 'free' }, enforcing)).toBe(200);
    const rows = await gateway.books.ledger(2);
    expect(rows.map(({ metadata }) => metadata)).toEqual([
      { tier: 'mine', region: 'eu', user: 'alice' },
      { tier: 'enforced', region: 'eu' },
    ]);
  });
});

describe('groups of a policy', () => {
  const oneEach = (...keys: string[]): Promise<string> =>
    gateway.limit({ credit_limit: COST, group_by: keys.map((key) => ({ key })) });

  it('limits each group separately', async () => {
    await oneEach('metadata.user');
    expect(await statusWith({ user: 'alice' })).toBe(200);
    expect(await statusWith({ user: 'bob' })).toBe(200);
    expect(await statusWith({ user: 'alice', other: 'x' })).not.toBe(200);
  });

  it('combines the values of several keys into one group', async () => {
    const id = await oneEach('metadata.user', 'api_key');
    expect(await statusWith({ user: 'alice' })).toBe(200);
    expect(await statusWith({ user: 'alice' }, team.key)).toBe(200);
    expect(await statusWith({ user: 'alice' })).not.toBe(200);
    await gateway.books.ledger(2);
    const entities = await gateway.admin.list(`/v1/policies/usage-limits/${id}/entities`);
    expect(new Set(entities.map((entity) => entity['value_key']))).toEqual(
      new Set([adminId, team.id].map((key) => `api_key:${key}|metadata.user:alice`)),
    );
  });

  it('counts calls without the value as a group, so that omitting it does not avoid the limit', async () => {
    const id = await oneEach('metadata.user');
    expect(await statusWith(undefined)).toBe(200);
    expect(await statusWith({})).not.toBe(200);
    expect(await statusWith({ User: 'alice' })).not.toBe(200);
    expect(await statusWith({ user: '(none)' })).toBe(200);
    await gateway.books.ledger(2);
    const entities = await gateway.admin.list(`/v1/policies/usage-limits/${id}/entities`);
    expect(entities.map((entity) => entity['value_key'])).toEqual(['metadata.user:(none)', 'metadata.user:(none)']);
  });

  it('groups by the metadata that a key enforces', async () => {
    const call = (metadata: object): Promise<number> => statusWith(metadata, team.key);
    await oneEach('metadata.team');
    expect(await call({ team: 'ads' })).toBe(200);
    expect(await call({ team: 'sales' })).not.toBe(200);
    expect(await call({})).not.toBe(200);
    const [row] = await gateway.books.ledger(1);
    expect(row?.metadata).toEqual({ team: 'search' });
  });
});

describe('metadata that a key enforces', () => {
  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'])(
    'enforces metadata named %s',
    async (name) => {
      const fields = { scopes: ['completions.write'], metadata: { [name]: 'acme' } };
      const { key } = await gateway.admin.createKey(fields);
      await gateway.limit({ credit_limit: 0, conditions: [{ key: `metadata.${name}`, value: 'acme' }] });
      expect(await statusWith(undefined, key)).toBe(412);
      expect(await statusWith({ [name]: 'other' }, key)).toBe(412);
      expect(await statusWith({ [name]: 'other' })).toBe(200);
      await gateway.books.ledger(1);
    },
  );
});

describe('spellings of a model', () => {
  const DEPLOYMENT = 'Cohere-rerank-v4.0-pro';
  const SPELLINGS = [DEPLOYMENT, `cohere.${DEPLOYMENT}`, `cohere.cohere.${DEPLOYMENT}`, `Cohere.${DEPLOYMENT}`];
  let azure: string;
  const ask = async (model: string): Promise<number> => (await gateway.rerank(azure, { ...REQUEST, model })).status;

  beforeAll(async () => {
    azure = await gateway.virtualKey('azure-ai');
  });

  it.each([...SPELLINGS, DEPLOYMENT.toLowerCase()])(
    "applies a model's policy to other spellings: %s",
    async (model) => {
      await gateway.limit({ credit_limit: 0, conditions: [{ key: 'model', value: `cohere.${DEPLOYMENT}` }] });
      expect(await ask(model)).toBe(412);
      expect((await gateway.call()).status).toBe(200);
      await gateway.books.ledger(1);
    },
  );

  it('counts all spellings of a model as one group and one model', async () => {
    const id = await gateway.limit({ credit_limit: 1, group_by: [{ key: 'model' }] });
    for (const model of SPELLINGS) expect(await ask(model)).toBe(200);
    const rows = await gateway.books.ledger(SPELLINGS.length);
    expect(new Set(rows.map(({ model }) => model))).toEqual(new Set([DEPLOYMENT.toLowerCase()]));
    const entities = await gateway.admin.list(`/v1/policies/usage-limits/${id}/entities`);
    expect(entities.map((entity) => entity['current_usage'])).toEqual([SPELLINGS.length * 0.0025]);
    const since = gateway.app.clock.now().getTime() / 1_000 - 60;
    const report = `/v1/usage?from=${Math.floor(since)}&bucket=none&model=${DEPLOYMENT}`;
    expect(await gateway.admin.list(report)).toEqual([expect.objectContaining({ calls: SPELLINGS.length })]);
  });
});

describe('metadata that tries to avoid a limit', () => {
  it('counts metadata with inherited names such as __proto__ as missing', async () => {
    await gateway.limit({ credit_limit: COST, group_by: [{ key: 'metadata.user' }] });
    expect(await statusWith({})).toBe(200);
    for (const name of ['__proto__', 'constructor', 'hasOwnProperty', 'toString']) {
      for (const value of ['"x"', '{"user":"x"}']) {
        const { status } = await gateway.call({ headers: { 'x-gateway-metadata': `{"${name}":${value}}` } });
        expect(status).not.toBe(200);
      }
    }
  });

  it('refuses metadata with 129 characters or 33 keys', async () => {
    await gateway.limit({ credit_limit: 1 });
    const many = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
    expect(await statusWith({ user: 'x'.repeat(128) })).toBe(200);
    expect(await statusWith({ user: 'x'.repeat(129) })).toBe(400);
    expect(await statusWith({ ['x'.repeat(129)]: 'v' })).toBe(400);
    expect(await statusWith(many(32))).toBe(200);
    expect(await statusWith(many(33))).toBe(400);
  });
});
