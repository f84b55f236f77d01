import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readArray, readNumber, readString } from '../src/common/json/read.js';
import { eventually } from './support/eventually.js';
import { type FakeProvider, json, onlyCall, silence, startFakeProvider, text } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { type Answer, brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { addTenant } from './support/tenants.js';

const SECRET = 'provider-secret-0123456789';
const NEW_SECRET = 'provider-secret-abcdefghij';
const AWS_SECRET = 'aws-secret-access-key-0123456789';
const AWS_TOKEN = 'aws-session-token-0123456789abcdef';
const AWS = {
  aws_region: 'us-east-1',
  aws_access_key_id: 'AKIDEXAMPLE123456789',
  aws_secret_access_key: AWS_SECRET,
};
const RERANKED = json({ id: 'r-1', results: [{ index: 0, relevance_score: 0.9 }] });

let gateway: TestApp;
let admin: GatewayClient;
let provider: FakeProvider;

beforeAll(async () => {
  [gateway, provider] = await Promise.all([startTestApp(), startFakeProvider()]);
  admin = new GatewayClient(gateway.url);
});

beforeEach(() => provider.replyWith(RERANKED));

afterEach(() => provider.forget());

afterAll(async () => {
  await gateway.close();
  await provider.close();
});

/** A key for Cohere's API on the fake provider. */
async function make(fields: object = {}): Promise<{ readonly id: string; readonly slug: string }> {
  const body = { name: 'Cohere', provider: 'cohere', key: SECRET, config: { base_url: provider.url }, ...fields };
  const { id, slug } = await admin.create('/v1/virtual-keys', body);
  return { id: readString(id, 'id'), slug: readString(slug, 'slug') };
}

function rerank(slug: string, client = admin): Promise<Answer> {
  const body = { model: 'rerank-v3.5', query: 'q', documents: ['d'] };
  return client.post('/v1/rerank', body, { 'x-gateway-virtual-key': slug });
}

function nowSeconds(): number {
  return Math.floor(gateway.clock.now().getTime() / 1_000);
}

describe('a virtual key', () => {
  it('makes, reads, lists, changes and deletes a virtual key', async () => {
    const created = await admin.create('/v1/virtual-keys', {
      name: 'Cohere (EU)',
      provider: 'cohere',
      key: SECRET,
      description: 'for the search team',
      config: { timeout_ms: 1_000 },
    });
    expect(created).toEqual({ id: expect.any(String), slug: 'cohere-eu', object: 'virtual-key' });
    const whole = {
      ...created,
      name: 'Cohere (EU)',
      description: 'for the search team',
      provider: 'cohere',
      workspace_id: null,
      key: '****6789',
      config: { timeout_ms: 1_000 },
      expires_at: null,
    };
    const path = `/v1/virtual-keys/${String(created['id'])}`;
    expect(await admin.read(path)).toMatchObject(whole);
    expect(await admin.list('/v1/virtual-keys')).toContainEqual(await admin.read(path));
    const changed = await admin.patch(path, { name: 'Renamed', description: null });
    expect(changed.status).toBe(200);
    expect(jsonOf(changed)).toMatchObject({ ...whole, name: 'Renamed', description: null });
    expect((await admin.delete(path)).status).toBe(204);
    expect(refusalOf(await admin.get(path))).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('finds a virtual key by its id and by its slug', async () => {
    const { id, slug } = await make({ slug: 'By_Slug-1' });
    expect(await admin.read(`/v1/virtual-keys/${slug}`)).toEqual(await admin.read(`/v1/virtual-keys/${id}`));
    expect(jsonOf(await admin.put(`/v1/virtual-keys/${slug}`, { name: 'Put' }))).toMatchObject({ id, name: 'Put' });
    expect(jsonOf(await admin.post(`/v1/virtual-keys/${slug}/test`))).toHaveProperty('ok');
    expect((await admin.delete(`/v1/virtual-keys/${slug}`)).status).toBe(204);
  });

  it('gives a virtual key another slug when the one from its name is taken', async () => {
    const name = `Twin ${randomUUID().slice(0, 8)}`;
    const [first, second] = [await make({ name }), await make({ name })];
    expect(second.slug.startsWith(`${first.slug}-`)).toBe(true);
    expect(second.slug).toMatch(/-[0-9a-f]{6}$/);
  });

  it('refuses a virtual key whose requested slug is taken, also under concurrency', async () => {
    const slug = 'wanted';
    const body = { name: 'Wanted', provider: 'local', slug };
    const answers = await Promise.all(Array.from({ length: 4 }, () => admin.post('/v1/virtual-keys', body)));
    const refused = answers.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(3);
    for (const answer of refused)
      expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict', param: 'slug' });
  });

  it('accepts a slug that another workspace or another organisation has too', async () => {
    const workspace_id = await admin.createWorkspace(`Slugs ${randomUUID()}`);
    const other = await addTenant(gateway, `slugs-${randomUUID()}`);
    const body = { name: 'Local', provider: 'local', slug: 'everywhere' };
    await admin.create('/v1/virtual-keys', body);
    await admin.create('/v1/virtual-keys', { ...body, workspace_id });
    await other.client.create('/v1/virtual-keys', body);
  });

  it.each([
    [{ provider: 'local' }, 'name'],
    [{ name: 'x' }, 'provider'],
    [{ name: 'x', provider: 'nobody' }, 'provider'],
    [{ name: 'x', provider: 'local', slug: 'a b' }, 'slug'],
    [{ name: 'x', provider: 'local', slug: '' }, 'slug'],
    [{ name: 'x'.repeat(256), provider: 'local' }, 'name'],
    [{ name: 'x\0', provider: 'local' }, 'name'],
    [{ name: 'x', provider: 'cohere', key: '' }, 'key'],
    [{ name: 'x', provider: 'cohere', key: 1 }, 'key'],
    [{ name: 'x', provider: 'local', config: [] }, 'config'],
    [{ name: 'x', provider: 'local', expires_at: 'never' }, 'expires_at'],
    [{ name: 'x', provider: 'local', secret: 'y' }, 'secret'],
  ])('names the field in the refusal of a virtual key: %j', async (body, param) => {
    const answer = await admin.post('/v1/virtual-keys', body);
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(brokenRulesOf(answer)).toContain(param);
  });

  it('refuses a new virtual key that has already expired, and lets an update expire one, as for API keys', async () => {
    for (const [path, fields] of [
      ['/v1/virtual-keys', { name: 'Ended', provider: 'local' }],
      ['/v1/api-keys', { name: 'Ended', scopes: ['api_keys.read'], level: 'organisation' }],
    ] as const) {
      for (const expires_at of [1, nowSeconds()]) {
        const answer = await admin.post(path, { ...fields, expires_at });
        expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: 'expires_at' });
      }
      const { id } = await admin.create(path, { ...fields, expires_at: nowSeconds() + 60 });
      expect(jsonOf(await admin.patch(`${path}/${String(id)}`, { expires_at: 1 }))).toMatchObject({ expires_at: 1 });
    }
  });

  it.each(['provider', 'slug', 'workspace_id', 'id'])(
    'does not let an update change %s of a virtual key',
    async (field) => {
      const { id } = await make();
      const answer = await admin.patch(`/v1/virtual-keys/${id}`, { [field]: 'local' });
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: field });
    },
  );
});

describe("the provider's own rules", () => {
  it.each([
    ['cohere', { key: SECRET }],
    ['voyage', { key: SECRET }],
    ['jina', { key: SECRET }],
    ['pinecone', { key: SECRET, config: { api_version: '2026-04' } }],
    ['openai', { key: SECRET, config: { organization: 'org-1', project: 'proj-1', caller_account: 'pass' } }],
    ['azure-ai', { key: SECRET, config: { base_url: 'https://x.services.ai.azure.com', auth: 'api-key' } }],
    [
      'openai-compatible',
      { config: { base_url: 'https://x.services.ai.azure.com/api/projects/p', api_version: 'v1' } },
    ],
    ['azure-openai', { key: SECRET, config: { base_url: 'https://x.openai.azure.com', api_version: '2024-10-21' } }],
    ['openai-compatible', { config: { base_url: 'https://models.example.com/v1' } }],
    ['bedrock', { config: AWS }],
    ['bedrock', { key: SECRET, config: { aws_region: 'us-east-1' } }],
    ['bedrock', { config: { ...AWS, aws_auth_type: 'assumedRole', aws_role_arn: 'arn:aws:iam::123456789012:role/r' } }],
    ['bedrock', { config: { aws_region: 'us-east-1', aws_auth_type: 'serviceRole' } }],
    ['local', {}],
  ])('accepts a complete virtual key for %s', async (slug, fields) => {
    await admin.create('/v1/virtual-keys', { name: slug, provider: slug, ...fields });
  });

  it.each([
    ['cohere', {}, 'key'],
    ['cohere', { key: `${SECRET}\n` }, 'key'],
    ['cohere', { key: ` ${SECRET}` }, 'key'],
    ['cohere', { key: 'kéy' }, 'key'],
    ['cohere', { key: 'a\0b' }, 'key'],
    ['cohere', { key: SECRET, config: { timeout_ms: 1 } }, 'config.timeout_ms'],
    ['cohere', { key: SECRET, config: { timeout_ms: '1000' } }, 'config.timeout_ms'],
    ['cohere', { key: SECRET, config: { aws_region: 'us-east-1' } }, 'config.aws_region'],
    ['cohere', { key: SECRET, config: { nope: null } }, 'config.nope'],
    ['cohere', { key: null }, 'key'],
    ['cohere', { key: SECRET, config: { constructor: {} } }, 'config.constructor'],
    ['cohere', { key: SECRET, config: { base_url: 'https://a.example/\0' } }, 'config'],
    ['pinecone', { key: SECRET, config: { api_version: 'new one' } }, 'config.api_version'],
    ['openai-compatible', { config: { base_url: 'https://x.example', api_version: 'v1&a=b' } }, 'config.api_version'],
    ['openai', { key: SECRET, config: { organization: 'a\nb' } }, 'config.organization'],
    ['openai', { key: SECRET, config: { caller_account: 'on' } }, 'config.caller_account'],
    ['groq', { key: SECRET, config: { caller_account: 'pass' } }, 'config.caller_account'],
    ['azure-ai', { key: SECRET }, 'config.base_url'],
    ['azure-ai', { key: SECRET, config: { base_url: 'https://x.example', auth: 'basic' } }, 'config.auth'],
    ['azure-openai', { key: SECRET }, 'config.base_url'],
    ['openai-compatible', { key: SECRET }, 'config.base_url'],
    ['bedrock', { config: { aws_region: 'us-east-1' } }, 'config.aws_secret_access_key'],
    ['bedrock', { config: { ...AWS, aws_region: 'evil.example/' } }, 'config.aws_region'],
    ['bedrock', { config: { ...AWS, aws_auth_type: 'assumedRole' } }, 'config.aws_role_arn'],
    ['bedrock', { config: { ...AWS, aws_auth_type: 'serviceRole' } }, 'config.aws_access_key_id'],
    ['bedrock', { config: AWS, key: SECRET }, 'config.aws_access_key_id'],
    ['local', { key: SECRET }, 'key'],
    ['local', { config: { base_url: 'https://a.example' } }, 'config.base_url'],
  ])('names the wrong field for %s: %j', async (slug, fields, param) => {
    const answer = await admin.post('/v1/virtual-keys', { name: slug, provider: slug, ...fields });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(brokenRulesOf(answer)).toContain(param);
    expect(answer.text).not.toContain(SECRET);
    expect(answer.text).not.toContain(AWS_SECRET);
  });

  it.each([
    'https://169.254.169.254/latest/meta-data',
    'https://[::ffff:169.254.169.254]',
    'https://10.1.2.3',
    'https://localhost:9000',
    'https://metadata.google.internal',
    'http://api.example.com',
    'https://user:pass@api.example.com',
    'https://api.example.com/?key=1',
    'file:///etc/passwd',
    'gopher://api.example.com',
    'https://',
    '//api.example.com',
  ])('refuses the address %s in a create and in an update', async (base_url) => {
    const refused = { status: 400, code: 'validation_failed', param: 'config.base_url' };
    const body = { name: 'x', provider: 'cohere', key: SECRET, config: { base_url } };
    expect(refusalOf(await admin.post('/v1/virtual-keys', body))).toMatchObject(refused);
    const { id } = await make();
    const update = { key: NEW_SECRET, config: { base_url } };
    expect(refusalOf(await admin.patch(`/v1/virtual-keys/${id}`, update))).toMatchObject(refused);
  });

  it('checks the whole virtual key after an update, not only the fields that the update names', async () => {
    const { id } = await admin.create('/v1/virtual-keys', { name: 'b', provider: 'bedrock', config: AWS });
    const answer = await admin.patch(`/v1/virtual-keys/${String(id)}`, { config: { aws_secret_access_key: null } });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'config.aws_secret_access_key' });
    expect(await admin.read(`/v1/virtual-keys/${String(id)}`)).toMatchObject({
      config: { aws_secret_access_key: '****6789' },
    });
  });
});

describe('its secrets', () => {
  it('masks the secrets of a virtual key in every answer', async () => {
    const config = { ...AWS, aws_session_token: AWS_TOKEN };
    const { id } = await admin.create('/v1/virtual-keys', { name: 'Bedrock', provider: 'bedrock', config });
    const { id: other } = await make();
    const path = `/v1/virtual-keys/${String(id)}`;
    const answers = [
      await admin.get(path),
      await admin.get(`/v1/virtual-keys/${other}`),
      await admin.get('/v1/virtual-keys?page_size=100'),
      await admin.patch(path, { name: 'Renamed' }),
      await admin.patch(`/v1/virtual-keys/${other}`, { key: NEW_SECRET }),
    ];
    for (const { text } of answers) {
      for (const secret of [SECRET, NEW_SECRET, AWS_SECRET, AWS_TOKEN]) expect(text).not.toContain(secret);
    }
    expect(await admin.read(path)).toMatchObject({
      key: null,
      config: { ...AWS, aws_secret_access_key: '****6789', aws_session_token: '****cdef' },
    });
  });

  it('keeps the secrets when their masks come back, as from tools that read, change and write', async () => {
    const { id, slug } = await make();
    const { name, description, key, config, expires_at } = await admin.read(`/v1/virtual-keys/${id}`);
    const answer = await admin.put(`/v1/virtual-keys/${id}`, { name, description, key, config, expires_at });
    expect(answer.status).toBe(200);
    expect((await rerank(slug)).status).toBe(200);
    expect(onlyCall(provider).headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  it('keeps the secret options when their masks come back', async () => {
    const fields = { name: 'Bedrock', provider: 'bedrock', config: { ...AWS, base_url: provider.url } };
    const { id } = await admin.create('/v1/virtual-keys', fields);
    const path = `/v1/virtual-keys/${String(id)}`;
    const { config } = await admin.read(path);
    expect((await admin.patch(path, { config })).status).toBe(200);
    provider.replyWith(json({ message: 'empty body' }, 400));
    expect(jsonOf(await admin.post(`${path}/test`))).toMatchObject({ ok: true });
    expect(onlyCall(provider).headers.authorization).toContain('AKIDEXAMPLE123456789/');
  });

  it('refuses the mask of a secret that was rotated since it was read', async () => {
    const { id, slug } = await make();
    const path = `/v1/virtual-keys/${id}`;
    const { name, key, config } = await admin.read(path);
    await admin.patch(path, { key: NEW_SECRET });
    for (const answer of [await admin.put(path, { name, key, config }), await admin.patch(path, { key: '****' })]) {
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: 'key' });
    }
    expect((await rerank(slug)).status).toBe(200);
    expect(onlyCall(provider).headers.authorization).toBe(`Bearer ${NEW_SECRET}`);
  });

  it('refuses the mask of another secret in the options', async () => {
    const { id } = await admin.create('/v1/virtual-keys', { name: 'Bedrock', provider: 'bedrock', config: AWS });
    for (const [name, value] of [
      ['aws_secret_access_key', '****0000'],
      ['aws_session_token', '****cdef'],
    ] as const) {
      const answer = await admin.patch(`/v1/virtual-keys/${String(id)}`, { config: { [name]: value } });
      expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: `config.${name}` });
    }
  });

  it.each([
    ['key', { provider: 'cohere', key: '****cdef' }],
    ['key', { provider: 'cohere', key: '****' }],
    ['config.aws_secret_access_key', { provider: 'bedrock', config: { ...AWS, aws_secret_access_key: '****6789' } }],
  ])('refuses a mask as the secret of a new virtual key: %s', async (param, fields) => {
    const answer = await admin.post('/v1/virtual-keys', { name: 'Copied', ...fields });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param });
  });

  it('stores no secret of a virtual key in plain text', async () => {
    await make();
    await admin.create('/v1/virtual-keys', { name: 'Bedrock', provider: 'bedrock', config: AWS });
    const dump: unknown[] = [];
    for (const { tableName } of gateway.dataSource.entityMetadatas) {
      dump.push(await gateway.dataSource.query(`SELECT "t"::text FROM "${tableName}" AS "t"`));
    }
    const text = JSON.stringify(dump);
    expect(text).toContain('AKIDEXAMPLE123456789');
    for (const secret of [SECRET, AWS_SECRET]) {
      for (const form of [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')]) {
        expect(text).not.toContain(form.replace(/=+$/, ''));
      }
    }
  });

  it('logs no secret of a virtual key, at the most verbose level', async () => {
    const { slug } = await make();
    await rerank(slug);
    await admin.post('/v1/virtual-keys', { name: 'x', provider: 'cohere', key: SECRET, config: { base_url: SECRET } });
    expect(gateway.log()).toContain('"request"');
    expect(gateway.log()).not.toContain(SECRET);
    expect(gateway.log()).not.toContain(AWS_SECRET);
  });

  it('seals secrets for their own row: one that is copied to another row does not open', async () => {
    const [mine, theirs] = [await make(), await make({ key: NEW_SECRET })];
    await gateway.dataSource.query(
      'UPDATE "virtual_keys" SET "sealed_key" = (SELECT "sealed_key" FROM "virtual_keys" WHERE "id" = $1) WHERE "id" = $2',
      [theirs.id, mine.id],
    );
    expect((await rerank(mine.slug)).status).toBeGreaterThanOrEqual(500);
    expect(provider.calls).toEqual([]);
    await admin.delete(`/v1/virtual-keys/${mine.slug}`);
  });
});

describe('secrets that do not open', () => {
  const refusal = { status: 502, code: 'secret_unavailable' };

  /** As after the loss of a master key: a secret that is sealed for another row does not open. */
  async function damage(id: string, column: 'sealed_key' | 'sealed_options', healthy: string): Promise<void> {
    const stored = `SELECT "${column}" FROM "virtual_keys" WHERE "id" = $1`;
    await gateway.dataSource.query(`UPDATE "virtual_keys" SET "${column}" = (${stored}) WHERE "id" = $2`, [
      healthy,
      id,
    ]);
  }

  async function makeDamaged(): Promise<{ readonly path: string; readonly slug: string }> {
    const [{ id, slug }, healthy] = [await make(), await make()];
    await damage(id, 'sealed_key', healthy.id);
    return { path: `/v1/virtual-keys/${id}`, slug };
  }

  async function makeWithDamagedOptions(): Promise<string> {
    const body = { name: 'Bedrock', provider: 'bedrock', config: AWS };
    const [{ id }, healthy] = [
      await admin.create('/v1/virtual-keys', body),
      await admin.create('/v1/virtual-keys', body),
    ];
    await damage(String(id), 'sealed_options', String(healthy['id']));
    return `/v1/virtual-keys/${String(id)}`;
  }

  it('replaces secrets that do not open with a new key', async () => {
    const { path, slug } = await makeDamaged();
    expect((await admin.patch(path, { key: NEW_SECRET })).status).toBe(200);
    expect((await rerank(slug)).status).toBe(200);
    expect(onlyCall(provider).headers.authorization).toBe(`Bearer ${NEW_SECRET}`);
  });

  it('refuses an update without the key when the stored secrets do not open', async () => {
    const { path } = await makeDamaged();
    expect((await admin.patch(path, { name: 'Still here' })).status).toBe(200);
    for (const config of [{ timeout_ms: 500 }, { base_url: 'https://elsewhere.example.com' }]) {
      expect(refusalOf(await admin.patch(path, { config }))).toMatchObject(refusal);
    }
  });

  it('accepts no mask as unchanged when the stored secrets do not open', async () => {
    const { path } = await makeDamaged();
    const { key, config } = await admin.read(path);
    expect(key).toBe('****');
    const answer = await admin.put(path, { key, config });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param: 'key' });
    const options = { ...AWS, aws_secret_access_key: '****6789', aws_session_token: null };
    expect(refusalOf(await admin.patch(await makeWithDamagedOptions(), { config: options }))).toMatchObject({
      status: 400,
      code: 'validation_failed',
      param: 'config.aws_secret_access_key',
    });
  });

  it('requires all secret options when the stored ones do not open, and accepts null for none', async () => {
    const path = await makeWithDamagedOptions();
    for (const config of [{ aws_region: 'eu-west-1' }, AWS, { aws_session_token: null }]) {
      expect(refusalOf(await admin.patch(path, { config }))).toMatchObject(refusal);
    }
    const { aws_secret_access_key } = AWS;
    const answer = await admin.patch(path, { config: { aws_secret_access_key, aws_session_token: null } });
    expect([answer.status, jsonOf(answer)['config']]).toEqual([200, { ...AWS, aws_secret_access_key: '****6789' }]);
  });
});

describe('an update', () => {
  it('merges options on an update, and removes those that are null', async () => {
    const { id } = await make({ provider: 'pinecone', config: { base_url: provider.url, timeout_ms: 500 } });
    const path = `/v1/virtual-keys/${id}`;
    expect(jsonOf(await admin.patch(path, { config: { api_version: '2026-04' } }))).toMatchObject({
      config: { base_url: provider.url, timeout_ms: 500, api_version: '2026-04' },
    });
    const answer = await admin.patch(path, { config: { timeout_ms: null } });
    expect(jsonOf(answer)['config']).toEqual({ base_url: provider.url, api_version: '2026-04' });
    expect(jsonOf(await admin.patch(path, { config: {} }))['config']).toEqual(jsonOf(answer)['config']);
  });

  it('applies an update of a virtual key to the next request', async () => {
    const { id, slug } = await make();
    await rerank(slug);
    await admin.patch(`/v1/virtual-keys/${id}`, { key: NEW_SECRET });
    await rerank(slug);
    expect(provider.calls.map((call) => call.headers.authorization)).toEqual([
      `Bearer ${SECRET}`,
      `Bearer ${NEW_SECRET}`,
    ]);
    await admin.delete(`/v1/virtual-keys/${id}`);
    expect(refusalOf(await rerank(slug))).toMatchObject({ status: 404, code: 'virtual_key_not_found' });
    await make({ slug });
    expect((await rerank(slug)).status).toBe(200);
  });

  it('applies an update of a virtual key on another replica within ten seconds', async () => {
    const replica = await startTestApp({}, true);
    const elsewhere = new GatewayClient(replica.url);
    const { id, slug } = await make();
    expect((await rerank(slug, elsewhere)).status).toBe(200);
    await admin.delete(`/v1/virtual-keys/${id}`);
    await eventually(async () => (await rerank(slug, elsewhere)).status === 404, 10_000);
    await replica.close();
  });

  it('keeps every one of several concurrent updates of a virtual key', async () => {
    const { id } = await make({ provider: 'pinecone' });
    await Promise.all([
      admin.patch(`/v1/virtual-keys/${id}`, { config: { timeout_ms: 700 } }),
      admin.patch(`/v1/virtual-keys/${id}`, { config: { api_version: '2026-04' } }),
      admin.patch(`/v1/virtual-keys/${id}`, { name: 'Together' }),
    ]);
    expect(await admin.read(`/v1/virtual-keys/${id}`)).toMatchObject({
      name: 'Together',
      config: { base_url: provider.url, timeout_ms: 700, api_version: '2026-04' },
    });
  });

  it('refuses to send a stored secret to another host: a new address needs the secret again', async () => {
    const elsewhere = await startFakeProvider();
    const { id } = await make();
    const path = `/v1/virtual-keys/${id}`;
    const config = { base_url: elsewhere.url };
    for (const body of [{ config }, { config, key: '****6789' }, { config: { base_url: null } }]) {
      expect(refusalOf(await admin.patch(path, body))).toMatchObject({ status: 400, param: 'key' });
    }
    expect((await admin.patch(path, { config, key: NEW_SECRET })).status).toBe(200);
    expect((await admin.patch(path, { config: { base_url: `${elsewhere.url}/v1` } })).status).toBe(200);
    await elsewhere.close();
  });

  it('refuses to send a stored option to another host', async () => {
    const { id } = await admin.create('/v1/virtual-keys', { name: 'Bedrock', provider: 'bedrock', config: AWS });
    const path = `/v1/virtual-keys/${String(id)}`;
    const base_url = provider.url;
    expect(refusalOf(await admin.patch(path, { config: { base_url } }))).toMatchObject({
      status: 400,
      param: 'config.aws_secret_access_key',
    });
    const known = { base_url, aws_secret_access_key: 'another-secret-access-key' };
    expect((await admin.patch(path, { config: known })).status).toBe(200);
  });

  it('audits an update of a virtual key without its credential', async () => {
    const { id } = await make({ name: 'Audited' });
    await admin.patch(`/v1/virtual-keys/${id}`, { key: NEW_SECRET, config: { timeout_ms: 4_321 } });
    await admin.post(`/v1/virtual-keys/${id}/test`);
    await admin.delete(`/v1/virtual-keys/${id}`);
    const entries = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entries.map((entry) => entry['action'])).toEqual([
      'virtual_keys.delete',
      'virtual_keys.test',
      'virtual_keys.update',
      'virtual_keys.create',
    ]);
    expect(entries[1]).toMatchObject({ changed_fields: [] });
    expect(new Set(readArray(entries[2]?.['changed_fields'], 'changed_fields'))).toEqual(new Set(['key', 'config']));
    expect(JSON.stringify(entries)).not.toMatch(/provider-secret/);
  });
});

describe('the test of a virtual key', () => {
  const path = (id: string): string => `/v1/virtual-keys/${id}/test`;

  it('reports success when the provider accepts the credential', async () => {
    const { id } = await make();
    provider.replyWith(json({ models: [] }));
    const answer = await admin.post(path(id));
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toEqual({ ok: true, latency_ms: expect.any(Number) });
    expect(onlyCall(provider).headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  it.each([
    [
      'refuses the credential',
      json({ message: `no such key: ${SECRET}` }, 401),
      { error: 'provider_credential_rejected', reason: 'http_401', provider_message: 'no such key: ****' },
    ],
    [
      'repeats a part of the credential',
      json({ message: `no such key: ${SECRET.slice(0, 12)}...` }, 401),
      { error: 'provider_credential_rejected', reason: 'http_401', provider_message: 'no such key: ****' },
    ],
    [
      'forbids it',
      json({ error: { message: 'Public access is disabled.' } }, 403),
      {
        error: 'provider_credential_rejected',
        reason: 'http_403',
        provider_message: 'Public access is disabled.',
      },
    ],
    [
      'is busy',
      json({ message: 'slow down' }, 429),
      { error: 'provider_rate_limited', reason: 'http_429', provider_message: 'slow down' },
    ],
    [
      'says so with status 200',
      json({ error: { message: 'no access', code: 401 } }),
      { error: 'provider_credential_rejected', reason: 'http_401', provider_message: 'no access' },
    ],
    [
      'names a code with status 200',
      json({ base_resp: { status_code: 1004, status_msg: 'login fail' } }),
      { error: 'provider_failed', reason: 'http_200', provider_message: 'login fail' },
    ],
    [
      'fails',
      json({ message: 'oh no' }, 500),
      { error: 'provider_failed', reason: 'http_500', provider_message: 'oh no' },
    ],
    [
      'shows a log-in page',
      text('<html>Log in</html>', 'text/html'),
      { error: 'provider_invalid_response', reason: 'invalid_response' },
    ],
    [
      'redirects',
      json({}, 302, { location: 'https://elsewhere.example' }),
      { error: 'provider_invalid_response', reason: 'redirect' },
    ],
  ])('reports failure and its reason when the provider %s, after one try', async (_what, reply, failure) => {
    const { id } = await make();
    provider.replyWith(reply);
    const answer = await admin.post(path(id));
    expect(answer.status).toBe(200);
    expect(jsonOf(answer)).toEqual({ ok: false, latency_ms: expect.any(Number), ...failure });
    expect(answer.text).not.toContain(SECRET);
    expect(provider.calls).toHaveLength(1);
  });

  it('reports failure when the provider does not answer within the timeout of the key', async () => {
    const { id } = await make({ config: { base_url: provider.url, timeout_ms: 150 } });
    provider.replyWith(silence);
    const { ok, error, reason, latency_ms } = jsonOf(await admin.post(path(id)));
    expect({ ok, error, reason }).toEqual({ ok: false, error: 'provider_timeout', reason: 'timeout' });
    expect(readNumber(latency_ms, 'latency_ms')).toBeGreaterThanOrEqual(140);
    expect(readNumber(latency_ms, 'latency_ms')).toBeLessThan(5_000);
  });

  it('reports failure when the address refuses the connection', async () => {
    const gone = await startFakeProvider();
    const { id } = await make({ config: { base_url: gone.url } });
    await gone.close();
    expect(jsonOf(await admin.post(path(id)))).toMatchObject({
      ok: false,
      error: 'provider_failed',
      reason: 'connect',
    });
  });

  it('reports success for the built-in provider, which needs no credential', async () => {
    const { id } = await admin.create('/v1/virtual-keys', { name: 'Built in', provider: 'local' });
    expect(jsonOf(await admin.post(path(String(id))))).toEqual({ ok: true, latency_ms: 0 });
  });

  it('lets a caller test virtual keys of its own tenant only', async () => {
    const other = await addTenant(gateway, `probe-${randomUUID()}`);
    const { id } = await make();
    expect(refusalOf(await other.client.post(path(id)))).toMatchObject({ status: 404, code: 'not_found' });
    expect(provider.calls).toEqual([]);
  });
});

describe('using a virtual key', () => {
  const NOT_FOUND = {
    status: 404,
    code: 'virtual_key_not_found',
    param: 'x-gateway-virtual-key',
    source: 'gateway',
  };

  it('refuses calls with an expired virtual key, and serves them when the expiry is extended', async () => {
    const { id, slug } = await make({ expires_at: nowSeconds() + 60 });
    expect((await rerank(slug)).status).toBe(200);
    gateway.clock.advance(61_000);
    expect(refusalOf(await rerank(slug))).toEqual(NOT_FOUND);
    await admin.patch(`/v1/virtual-keys/${id}`, { expires_at: null });
    expect((await rerank(slug)).status).toBe(200);
  });

  it('refuses calls without a virtual key, and with unknown names, ids and keys of other organisations alike', async () => {
    const other = await addTenant(gateway, `use-${randomUUID()}`);
    const foreign = await other.client.create('/v1/virtual-keys', { name: 'x', slug: 'theirs', provider: 'local' });
    const { id } = await make();
    for (const slug of ['nobody', 'theirs', String(foreign['id']), id, "' OR 1=1 --"]) {
      expect(refusalOf(await rerank(slug))).toEqual(NOT_FOUND);
    }
    expect(refusalOf(await admin.post('/v1/rerank', {}))).toEqual({
      ...NOT_FOUND,
      status: 400,
      code: 'virtual_key_required',
    });
  });

  it("prefers the workspace's own key to the organisation's key of that name, and ignores other workspaces' keys", async () => {
    const [mine, theirs] = [await admin.createWorkspace('Mine'), await admin.createWorkspace('Theirs')];
    const slug = 'shared-name';
    await make({ slug, key: 'of-the-organisation' });
    await make({ slug, key: 'of-my-workspace', workspace_id: mine });
    await make({ slug: 'only-theirs', workspace_id: theirs });
    const scopes = ['completions.write'];
    const inMine = await admin.createKey({ level: 'workspace', workspace_id: mine, scopes });
    const inTheirs = await admin.createKey({ level: 'workspace', workspace_id: theirs, scopes });
    await rerank(slug, inMine.client);
    await rerank(slug, inTheirs.client);
    expect(provider.calls.map((call) => call.headers.authorization)).toEqual([
      'Bearer of-my-workspace',
      'Bearer of-the-organisation',
    ]);
    expect(refusalOf(await rerank('only-theirs', inMine.client))).toEqual(NOT_FOUND);
  });

  it('returns a conflict when a caller of the organisation uses a name that several workspaces have', async () => {
    const [one, two] = [await admin.createWorkspace('One'), await admin.createWorkspace('Two')];
    await make({ slug: 'twice', workspace_id: one });
    await make({ slug: 'twice', workspace_id: two });
    expect(refusalOf(await rerank('twice'))).toMatchObject({ status: 409, code: 'conflict' });
    expect(refusalOf(await admin.get('/v1/virtual-keys/twice'))).toMatchObject({ status: 409, code: 'conflict' });
    expect(refusalOf(await admin.patch('/v1/virtual-keys/twice', { name: 'x' }))).toMatchObject({ status: 409 });
  });

  it("finds the organisation's key for its callers, whatever names workspaces use, but does not delete it by such a name", async () => {
    const [theirs, workspace] = [await make({ slug: 'shared' }), await admin.createWorkspace('Namesake')];
    const other = await make({ slug: 'shared', workspace_id: workspace });
    const path = '/v1/virtual-keys/shared';
    expect(await admin.read(path)).toMatchObject({ id: theirs.id });
    expect(jsonOf(await admin.patch(path, { name: 'Ours' }))).toMatchObject({ id: theirs.id, name: 'Ours' });
    expect(refusalOf(await admin.delete(path))).toMatchObject({ status: 409, code: 'conflict' });
    for (const { id } of [theirs, other]) expect((await admin.delete(`/v1/virtual-keys/${id}`)).status).toBe(204);
  });

  it('never sends the credentials of the caller to the provider', async () => {
    const { slug } = await make();
    const { key } = await admin.createKey({ scopes: ['completions.write'] });
    const client = new GatewayClient(gateway.url, { authorization: `Bearer ${key}`, cookie: 'session=1' });
    expect((await rerank(slug, client)).status).toBe(200);
    const { headers, body } = onlyCall(provider);
    expect(headers.authorization).toBe(`Bearer ${SECRET}`);
    expect(JSON.stringify(headers) + body).not.toContain(key);
    expect(headers.cookie).toBeUndefined();
  });
});
