import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { SecretReference } from '../src/secret-references/secret-reference.entity.js';
import { SecretReferenceStatus } from '../src/secret-references/secret-reference.status.js';
import { eventually } from './support/eventually.js';
import { json, onlyCall } from './support/fake-provider.js';
import { keyOf, SecretGateway } from './support/secret-gateway.js';
import { requestLine } from './support/request-line.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';

const VALUE = 'sk-from-the-vault-0123456789';
const INLINE = 'sk-given-inline-0123456789';
const AWS_SECRET = 'aws-secret-access-key-0123456789';

let gateway: SecretGateway;
let reference: string;

beforeAll(async () => {
  gateway = await SecretGateway.start();
  gateway.kv.put('cohere', { api_key: VALUE });
  reference = await gateway.reference('cohere', { slug: 'cohere' });
  gateway.accept([VALUE, INLINE]);
});

afterEach(() => {
  gateway.provider.forget();
  gateway.accept([VALUE, INLINE]);
});

afterAll(() => gateway.close());

const toKey = (secret_reference_id = reference, fields: object = {}): object => ({
  target_field: 'key',
  secret_reference_id,
  ...fields,
});

describe('a virtual key with a mapped key', () => {
  it('sends the mapped secret to the provider', async () => {
    const slug = await gateway.virtualKey(reference);
    expect((await gateway.rerank(slug)).status).toBe(200);
    expect(keyOf(onlyCall(gateway.provider))).toBe(VALUE);
  });

  it('returns the mappings of a virtual key with ids and defaults, and without values', async () => {
    const slug = await gateway.virtualKey('cohere');
    const mapping = { target_field: 'key', secret_reference_id: reference, secret_key: null, value_format: 'string' };
    const whole = { key: null, config: { base_url: gateway.provider.url }, secret_mappings: [mapping] };
    const path = `/v1/virtual-keys/${slug}`;
    expect(await gateway.admin.read(path)).toMatchObject(whole);
    expect(await gateway.admin.list('/v1/virtual-keys?page_size=100')).toContainEqual(await gateway.admin.read(path));
    expect(jsonOf(await gateway.admin.patch(path, { name: 'Renamed' }))).toMatchObject({ ...whole, name: 'Renamed' });
  });

  it('returns an empty list when a virtual key has no mappings', async () => {
    expect(await gateway.admin.read('/v1/virtual-keys/local')).toMatchObject({ secret_mappings: [] });
  });

  it('fetches a secret once for 500 concurrent first uses', async () => {
    gateway.kv.put('busy', { api_key: VALUE });
    const busy = await gateway.reference('busy');
    const slugs = await Promise.all(Array.from({ length: 4 }, () => gateway.virtualKey(busy)));
    const answers = await Promise.all(
      Array.from({ length: 500 }, (_, index) => gateway.rerank(slugs[index % slugs.length] ?? '')),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(gateway.readsOf('busy')).toBe(1);
  });

  it('reads all references of a virtual key with one query', async () => {
    const fields = ['aws_access_key_id', 'aws_secret_access_key', 'aws_region'];
    const values = ['AKIDEXAMPLE123456789', AWS_SECRET, 'us-east-1'];
    for (const [index, field] of fields.entries()) gateway.kv.put(field, { value: values[index] });
    const references = await Promise.all(fields.map((field) => gateway.reference(field)));
    const slug = await gateway.virtualKey(reference, {
      provider: 'bedrock',
      secret_mappings: fields.map((field, index) => ({
        target_field: `config.${field}`,
        secret_reference_id: references[index],
        secret_key: 'value',
      })),
    });
    const queries = jest.spyOn(PostgresQueryRunner.prototype, 'query');
    try {
      await gateway.rerank(slug);
      const statements = queries.mock.calls.map(([sql]) => sql);
      expect(statements.filter((sql) => sql.includes('FROM "secret_references"'))).toHaveLength(1);
      expect(fields.map((field) => gateway.readsOf(field))).toEqual([1, 1, 1]);
    } finally {
      queries.mockRestore();
    }
  });

  it('shares one fetch among several keys of one secret', async () => {
    gateway.kv.put('aws', { id: 'AKIDEXAMPLE123456789', secret: AWS_SECRET, region: 'us-east-1' });
    const aws = await gateway.reference('aws');
    const slug = await gateway.virtualKey(aws, {
      provider: 'bedrock',
      secret_mappings: [
        { target_field: 'config.aws_access_key_id', secret_reference_id: aws, secret_key: 'id' },
        { target_field: 'config.aws_secret_access_key', secret_reference_id: aws, secret_key: 'secret' },
        { target_field: 'config.aws_region', secret_reference_id: aws, secret_key: 'region' },
      ],
    });
    gateway.provider.replyWith(json({ message: 'empty body' }, 400));
    expect(jsonOf(await gateway.admin.post(`/v1/virtual-keys/${slug}/test`))).toMatchObject({ ok: true });
    expect(onlyCall(gateway.provider).headers.authorization).toContain('AKIDEXAMPLE123456789/');
    expect(gateway.readsOf('aws')).toBe(1);
  });

  it('masks mapped options that the provider repeats', async () => {
    gateway.kv.put('account', { api_key: VALUE, organization: 'org-marker-0123456789' });
    const account = await gateway.reference('account', { secret_key: 'api_key' });
    const organization = { target_field: 'config.organization', secret_reference_id: account };
    const slug = await gateway.virtualKey(account, {
      provider: 'openai',
      secret_mappings: [toKey(account), { ...organization, secret_key: 'organization' }],
    });
    gateway.provider.replyWith(json({ error: { message: 'no such organization: org-marker-0123456789' } }, 400));
    const answer = await gateway.admin.get('/v1/batches', { 'x-gateway-virtual-key': slug });
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('no such organization: ****');
  });

  it('parses mapped options that are not text as JSON', async () => {
    gateway.kv.put('options', { api_key: VALUE, timeout: 30_000, address: gateway.provider.url });
    const options = await gateway.reference('options', { secret_key: 'api_key' });
    const slug = await gateway.virtualKey(options, {
      config: {},
      secret_mappings: [
        toKey(options),
        {
          target_field: 'config.timeout_ms',
          secret_reference_id: options,
          secret_key: 'timeout',
          value_format: 'json',
        },
        { target_field: 'config.base_url', secret_reference_id: options, secret_key: 'address' },
      ],
    });
    expect((await gateway.rerank(slug)).status).toBe(200);
    expect(onlyCall(gateway.provider).path).toBe('/v2/rerank');
  });

  it('tests a virtual key with its mapped secret', async () => {
    const slug = await gateway.virtualKey(reference);
    gateway.provider.replyWith(json({ models: [] }));
    expect(jsonOf(await gateway.admin.post(`/v1/virtual-keys/${slug}/test`))).toMatchObject({ ok: true });
    expect(keyOf(onlyCall(gateway.provider))).toBe(VALUE);
    gateway.provider.replyWith(json({ message: 'no such key' }, 401));
    const refused = jsonOf(await gateway.admin.post(`/v1/virtual-keys/${slug}/test`));
    expect(refused).toMatchObject({ ok: false, error: 'provider_credential_rejected', reason: 'http_401' });
  });

  it.each([
    ['the secret is not there', 'nowhere', {}, 'not_found'],
    ['the secret has no such key', 'cohere', { secret_key: 'other' }, 'key_missing'],
  ])('reports and logs in the test of a virtual key that %s', async (_what, path, fields, code) => {
    const id = await gateway.reference(path);
    const slug = await gateway.virtualKey(id, { secret_mappings: [toKey(id, fields)] });
    const headers = { 'x-gateway-trace-id': `test-${slug}` };
    const answer = await gateway.admin.post(`/v1/virtual-keys/${slug}/test`, undefined, headers);
    const wrong = { ok: false, error: 'secret_unavailable', secret_error: code };
    expect(jsonOf(answer)).toEqual({ ...wrong, latency_ms: expect.any(Number) });
    const error_reason = `${code}: secret reference ${id}`;
    const line = { status: 200, error_code: 'secret_unavailable', error_reason };
    expect(await requestLine(gateway.app, headers['x-gateway-trace-id'])).toMatchObject(line);
  });

  it('deletes the mappings together with the virtual key', async () => {
    const free = await gateway.reference('cohere');
    const slug = await gateway.virtualKey(free);
    expect((await gateway.admin.delete(`/v1/secret-references/${free}`)).status).toBe(409);
    expect((await gateway.admin.delete(`/v1/virtual-keys/${slug}`)).status).toBe(204);
    expect((await gateway.admin.delete(`/v1/secret-references/${free}`)).status).toBe(204);
  });
});

describe('refused mappings of a virtual key', () => {
  const create = (fields: object) =>
    gateway.admin.post('/v1/virtual-keys', { name: 'x', provider: 'cohere', ...fields });

  it.each([
    [[{ target_field: 'config.aws_region' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'config.' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'config' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'config.constructor' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'config.__proto__' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'name' }], 'secret_mappings.0.target_field'],
    [[{ target_field: 'key' }, { target_field: 'provider' }], 'secret_mappings.1.target_field'],
    [[{ target_field: 'key' }, { target_field: 'key' }], 'secret_mappings.1.target_field'],
    [[{ target_field: 'key', value_format: 'xml' }], 'secret_mappings.0.value_format'],
    [[{ target_field: 'key', secret_key: '' }], 'secret_mappings.0.secret_key'],
    [[{ target_field: 'key', extra: 1 }], 'secret_mappings.0.extra'],
  ])('refuses mappings that break a rule: %j', async (fields, param) => {
    const answer = await create({
      secret_mappings: fields.map((field) => ({ secret_reference_id: reference, ...field })),
    });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed', param });
  });

  it.each([[{}], ['key'], [[1]], [[[]]], [[null]]])('refuses malformed mappings: %j', async (secret_mappings) => {
    const answer = await create({ secret_mappings });
    expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
    expect(String([...brokenRulesOf(answer)][0])).toMatch(/^secret_mappings/);
  });

  it('refuses a mapping for a field that the request also gives', async () => {
    const both = await create({ key: INLINE, secret_mappings: [toKey()] });
    expect(refusalOf(both)).toMatchObject({ status: 400, param: 'secret_mappings.0.target_field' });
    const option = { target_field: 'config.timeout_ms', secret_reference_id: reference };
    const bothOptions = await create({ config: { timeout_ms: 1_000 }, secret_mappings: [toKey(), option] });
    expect(refusalOf(bothOptions)).toMatchObject({ status: 400, param: 'secret_mappings.1.target_field' });
  });

  it('refuses a mapping for the key of a provider without keys', async () => {
    const answer = await create({ provider: 'local', secret_mappings: [toKey()] });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'secret_mappings.0.target_field' });
  });

  it('refuses a mapped address beside a stored secret, since it could redirect the secret', async () => {
    const address = { target_field: 'config.base_url', secret_reference_id: reference };
    const answer = await create({ key: INLINE, secret_mappings: [address] });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'key' });
  });

  it('stores nothing when a mapping is refused', async () => {
    const before = await gateway.app.dataSource.query('SELECT count(*) FROM "secret_mappings"');
    const name = `left ${randomUUID()}`;
    await create({
      name,
      secret_mappings: [toKey(), { target_field: 'config.timeout_ms', secret_reference_id: 'no' }],
    });
    expect(await gateway.app.dataSource.query('SELECT count(*) FROM "secret_mappings"')).toEqual(before);
    expect(JSON.stringify(await gateway.admin.list('/v1/virtual-keys?page_size=100'))).not.toContain(name);
  });

  it('still requires the other fields beside mappings', async () => {
    const answer = await create({ provider: 'azure-ai', secret_mappings: [toKey()] });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'config.base_url' });
  });
});

describe('the destination of a mapped secret', () => {
  const VERBS = ['virtual_keys.create', 'virtual_keys.update'];

  it('requires the mappings again when a virtual key moves to another host', async () => {
    const path = `/v1/virtual-keys/${await gateway.virtualKey('cohere')}`;
    const config = { base_url: 'https://elsewhere.example.com' };
    expect(refusalOf(await gateway.admin.patch(path, { config }))).toMatchObject({
      status: 400,
      param: 'secret_mappings',
    });
    expect(await gateway.admin.read(path)).toMatchObject({ config: { base_url: gateway.provider.url } });
    expect((await gateway.admin.patch(path, { config: { base_url: `${gateway.provider.url}/v2` } })).status).toBe(200);
    expect((await gateway.admin.patch(path, { config, secret_mappings: [toKey()] })).status).toBe(200);
  });

  it('allows mappings only to callers that may use secret references', async () => {
    const { client } = await gateway.admin.createKey({ scopes: VERBS });
    const path = `/v1/virtual-keys/${await gateway.virtualKey('cohere')}`;
    const body = { name: 'Mine', provider: 'cohere', secret_mappings: [toKey()] };
    for (const answer of [
      await client.post('/v1/virtual-keys', body),
      await client.patch(path, { config: { base_url: 'https://elsewhere.example.com' }, secret_mappings: [toKey()] }),
    ]) {
      expect(refusalOf(answer)).toMatchObject({ status: 403, code: 'permission_denied' });
      expect(answer.text).toContain('secret_references.use');
    }
    expect((await client.patch(path, { name: 'Renamed', secret_mappings: [] })).status).toBe(400);
    expect((await client.patch(path, { name: 'Renamed' })).status).toBe(200);
    const { client: reader } = await gateway.admin.createKey({ scopes: [...VERBS, 'secret_references.use'] });
    expect((await reader.post('/v1/virtual-keys', body)).status).toBe(201);
  });
});

describe('an update of a virtual key with mappings', () => {
  const path = (slug: string): string => `/v1/virtual-keys/${slug}`;

  it('deletes the stored value of a field when an update maps it', async () => {
    const slug = await gateway.virtualKey(reference, { key: INLINE, secret_mappings: [] });
    expect((await gateway.rerank(slug)).status).toBe(200);
    const mapped = await gateway.admin.patch(path(slug), { secret_mappings: [toKey()] });
    expect(jsonOf(mapped)).toMatchObject({ key: null, secret_mappings: [{ target_field: 'key' }] });
    expect((await gateway.rerank(slug)).status).toBe(200);
    expect(gateway.provider.calls.map(keyOf)).toEqual([INLINE, VALUE]);
    const cleared = await gateway.admin.patch(path(slug), { secret_mappings: null });
    expect(refusalOf(cleared)).toMatchObject({ status: 400, param: 'key' });
  });

  it.each([null, []])('requires an inline key after an update clears the mappings with %j', async (secret_mappings) => {
    const slug = await gateway.virtualKey(reference);
    const refused = await gateway.admin.patch(path(slug), { secret_mappings });
    expect(refusalOf(refused)).toMatchObject({ status: 400, code: 'validation_failed', param: 'key' });
    const cleared = await gateway.admin.patch(path(slug), { secret_mappings, key: INLINE });
    expect(jsonOf(cleared)).toMatchObject({ key: '****6789', secret_mappings: [] });
    expect((await gateway.rerank(slug)).status).toBe(200);
    expect(keyOf(onlyCall(gateway.provider))).toBe(INLINE);
  });

  it('keeps the mappings when other fields are updated', async () => {
    const slug = await gateway.virtualKey(reference);
    const answer = await gateway.admin.patch(path(slug), { config: { timeout_ms: 5_000 }, description: 'x' });
    expect(jsonOf(answer)).toMatchObject({ config: { timeout_ms: 5_000 }, secret_mappings: [{ target_field: 'key' }] });
    expect((await gateway.rerank(slug)).status).toBe(200);
    expect(keyOf(onlyCall(gateway.provider))).toBe(VALUE);
  });

  it('refuses an update that gives a mapped field a value', async () => {
    const slug = await gateway.virtualKey(reference);
    const refused = await gateway.admin.patch(path(slug), { key: INLINE });
    expect(refusalOf(refused)).toMatchObject({ status: 400, code: 'validation_failed', param: 'key' });
  });

  it('uses changed mappings from the next call on', async () => {
    gateway.kv.put('second', { api_key: INLINE });
    const second = await gateway.reference('second');
    const slug = await gateway.virtualKey(reference);
    await gateway.rerank(slug);
    await gateway.admin.patch(path(slug), { secret_mappings: [toKey(second)] });
    await gateway.rerank(slug);
    expect(gateway.provider.calls.map(keyOf)).toEqual([VALUE, INLINE]);
  });

  it('applies concurrent updates without losing one', async () => {
    const slug = await gateway.virtualKey(reference, { key: INLINE, secret_mappings: [] });
    const answers = await Promise.all([
      gateway.admin.patch(path(slug), { secret_mappings: [toKey()] }),
      gateway.admin.patch(path(slug), { config: { timeout_ms: 5_000 } }),
      gateway.admin.patch(path(slug), { description: 'x' }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await gateway.admin.read(path(slug))).toMatchObject({
      key: null,
      description: 'x',
      config: { timeout_ms: 5_000 },
      secret_mappings: [{ target_field: 'key' }],
    });
    expect((await gateway.rerank(slug)).status).toBe(200);
  });
});

describe('a value that the provider does not accept', () => {
  it.each([
    ['a field that the secret lacks', { api_key: VALUE }, 'key', { secret_key: 'other' }, 'key_missing'],
    ['an empty key', { a: '' }, 'key', {}, 'not valid: key'],
    ['a key that is not text', { a: { b: 1 } }, 'key', { value_format: 'json' }, 'not valid: key'],
    ['an address that the gateway may not call', { a: 'https://10.0.0.1' }, 'config.base_url', {}, 'config.base_url'],
    ['an address of the metadata service', { a: 'http://169.254.169.254' }, 'config.base_url', {}, 'config.base_url'],
    ['an option of another type', { a: 'soon' }, 'config.timeout_ms', {}, 'config.timeout_ms'],
  ])(
    'refuses calls when the mapped value is invalid, and logs the reason: %s',
    async (_what, secret, target_field, fields, reason) => {
      const name = `wrong-${randomUUID()}`;
      gateway.kv.put(name, secret);
      const wrong = await gateway.reference(name);
      const mapping = { target_field, secret_reference_id: wrong, ...fields };
      const slug = await gateway.virtualKey(wrong, {
        secret_mappings: target_field === 'key' ? [mapping] : [toKey(), mapping],
        ...(target_field === 'config.base_url' ? { config: {} } : {}),
      });
      expect(refusalOf(await gateway.rerank(slug))).toMatchObject({ status: 502, code: 'secret_unavailable' });
      const secret_error = reason === 'key_missing' ? reason : 'value_not_valid';
      expect(jsonOf(await gateway.admin.post(`/v1/virtual-keys/${slug}/test`))).toMatchObject({
        ok: false,
        error: 'secret_unavailable',
        secret_error,
      });
      expect(gateway.provider.calls).toEqual([]);
      await eventually(() => gateway.app.log().includes(reason));
    },
  );
});

describe('a test of a secret reference', () => {
  const test = async (id: string) => gateway.admin.post(`/v1/secret-references/${id}/test`);

  it('reports a readable secret, fetches it each time and never shows it', async () => {
    gateway.kv.put('tested', { api_key: VALUE, other: 1 });
    const tested = await gateway.reference('tested', { secret_key: 'api_key' });
    for (let time = 0; time < 2; time += 1) {
      const answer = await test(tested);
      expect(answer.status).toBe(200);
      expect(jsonOf(answer)).toEqual({ ok: true, latency_ms: expect.any(Number) });
    }
    expect(gateway.readsOf('tested')).toBe(2);
    await gateway.rerank(await gateway.virtualKey(tested));
    expect(gateway.readsOf('tested')).toBe(2);
  });

  it('reports the failed test of a reference by an error code', async () => {
    const missing = await gateway.reference('missing');
    expect(jsonOf(await test(missing))).toMatchObject({ ok: false, error: 'not_found' });
    const keyless = await gateway.reference('cohere', { secret_key: 'other' });
    expect(jsonOf(await test(keyless))).toMatchObject({ ok: false, error: 'key_missing' });
    gateway.kv.put('empty', { api_key: '' });
    const empty = await gateway.reference('empty', { secret_key: 'api_key' });
    expect(jsonOf(await test(empty))).toMatchObject({ ok: false, error: 'key_missing' });
    const auth_config = { vault_auth_type: 'token', vault_addr: gateway.vault.addr, vault_token: 'hvs.wrong' };
    const stranger = await gateway.reference('cohere', { auth_config });
    expect(jsonOf(await test(stranger))).toMatchObject({ ok: false, latency_ms: expect.any(Number) });
  });

  it('records a test on the reference and in the audit log, but not as a change', async () => {
    const noted = await gateway.reference('noted');
    const path = `/v1/secret-references/${noted}`;
    const before = await gateway.admin.read(path);
    expect(before).toMatchObject({ last_resolved_at: null, last_error: null });
    await test(noted);
    await eventually(async () => (await gateway.admin.read(path))['last_error'] === 'not_found');
    gateway.kv.put('noted', { api_key: VALUE });
    await test(noted);
    await eventually(async () => (await gateway.admin.read(path))['last_error'] === null);
    const after = await gateway.admin.read(path);
    expect(after).toEqual({ ...before, last_resolved_at: expect.any(Number) });
    const [row] = await gateway.app.dataSource.query(
      'SELECT "revision", "updated_at" = "created_at" AS "unchanged" FROM "secret_references" WHERE "id" = $1',
      [noted],
    );
    expect(row).toEqual({ revision: 1, unchanged: true });
    const entries = await gateway.admin.list(`/v1/audit-logs?resource=${noted}&action=secret_references.test`);
    expect(entries).toHaveLength(2);
  });

  it('writes the status of a reference at most every few seconds unless it changes', async () => {
    const written = await gateway.reference('often');
    const row = await gateway.app.dataSource.manager.findOneByOrFail(SecretReference, { id: written });
    const status = gateway.app.app.get(SecretReferenceStatus, { strict: false });
    const path = `/v1/secret-references/${written}`;
    const resolvedAt = async (): Promise<unknown> => (await gateway.admin.read(path))['last_resolved_at'];
    status.note(row, null);
    await eventually(async () => (await resolvedAt()) !== null);
    const first = await resolvedAt();
    // A second, which the status shows, and less than it waits.
    gateway.app.clock.advance(1_000);
    status.note(row, null);
    status.note(row, 'timeout');
    await eventually(async () => (await gateway.admin.read(path))['last_error'] === 'timeout');
    expect(await resolvedAt()).toBe(first);
    status.note(row, null);
    await eventually(async () => (await resolvedAt()) !== first);
    expect(await gateway.admin.read(path)).toMatchObject({ last_error: null });
  });

  it('returns 404 for the test of an unknown reference', async () => {
    expect(refusalOf(await test(randomUUID()))).toMatchObject({ status: 404, code: 'not_found' });
  });
});

it('counts fetches of secrets by manager and outcome', async () => {
  const metrics = (await gateway.admin.get('/metrics')).text;
  expect(metrics).toMatch(/gateway_secret_fetches_total\{manager="vendorC_vault",outcome="ok"\} [1-9]/);
  expect(metrics).toMatch(/gateway_secret_fetches_total\{manager="vendorC_vault",outcome="not_found"\} [1-9]/);
  expect(metrics).toMatch(/gateway_secret_fetch_duration_seconds_count\{manager="vendorC_vault"\} [1-9]/);
});
