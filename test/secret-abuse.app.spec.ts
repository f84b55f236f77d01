import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { VirtualKeyCache } from '../src/virtual-keys/virtual-key.cache.js';
import { eventually } from './support/eventually.js';
import { json } from './support/fake-provider.js';
import type { GatewayClient } from './support/gateway-client.js';
import { SecretGateway } from './support/secret-gateway.js';
import { type Answer, brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';

const VALUE = 'sk-marker-5d1f0c7e9b24';
const OTHER_VALUE = 'other-marker-93ab10f2';
const BROKEN = 'broken-marker-{"a":';
const AWS_SECRET = 'aws-marker-secret-access-key-77';
const UNAVAILABLE = { status: 502, code: 'secret_unavailable', source: 'gateway' };

let gateway: SecretGateway;
let reference: string;
let slug: string;
let other: Tenant;
/** A workspace and a caller that belongs only to it. */
let mine: { readonly id: string; readonly client: GatewayClient };
let theirs: { readonly id: string; readonly client: GatewayClient };
/** Every answer that any caller received. */
const answers: Answer[] = [];

beforeAll(async () => {
  gateway = await SecretGateway.start();
  other = await addTenant(gateway.app, 'other');
  [mine, theirs] = [await addWorkspace('Mine'), await addWorkspace('Theirs')];
  gateway.kv.put('cohere', { api_key: VALUE });
  gateway.kv.put('theirs', { api_key: OTHER_VALUE });
  gateway.kv.put('broken', { text: BROKEN });
  reference = await gateway.reference('cohere', { slug: 'cohere' });
  slug = await gateway.virtualKey(reference);
});

beforeEach(() => {
  gateway.vault.heal();
  gateway.accept([VALUE]);
  gateway.provider.forget();
});

afterAll(() => gateway.close());

async function addWorkspace(name: string): Promise<{ readonly id: string; readonly client: GatewayClient }> {
  const id = await gateway.admin.createWorkspace(name);
  const verbs = ['create', 'read', 'update', 'delete', 'list'];
  const scopes = [
    ...verbs.flatMap((verb) => [`virtual_keys.${verb}`, `secret_references.${verb}`]),
    'completions.write',
    'secret_references.use',
  ];
  const { client } = await gateway.admin.createKey({ level: 'workspace', workspace_id: id, scopes });
  return { id, client };
}

async function noted(work: Promise<Answer>): Promise<Answer> {
  const answer = await work;
  answers.push(answer);
  return answer;
}

function create(secret_reference_id: string, client = gateway.admin, fields: object = {}): Promise<Answer> {
  const secret_mappings = [{ target_field: 'key', secret_reference_id }];
  return noted(client.post('/v1/virtual-keys', { name: 'x', provider: 'cohere', secret_mappings, ...fields }));
}

function patchReference(id: string, changes: object, client = gateway.admin): Promise<Answer> {
  return noted(client.patch(`/v1/secret-references/${id}`, changes));
}

async function testOf(id: string): Promise<unknown> {
  return jsonOf(await noted(gateway.admin.post(`/v1/secret-references/${id}/test`)))['error'];
}

describe('a reference that the caller may not use', () => {
  it('refuses a foreign reference with the message for a missing one', async () => {
    const foreign = await gateway.reference('theirs', { slug: 'foreign' }, other.client);
    const hidden = await gateway.reference('cohere', { slug: 'hidden', allowed_workspaces: [theirs.id] });
    const nobodys = await gateway.reference('cohere', { slug: 'nobodys', allow_all_workspaces: false });
    const refused = [
      await create(randomUUID()),
      await create(foreign),
      await create('foreign'),
      await create('no-such-slug'),
      await create("'; DROP TABLE x; --"),
      // Belongs to the whole organisation, and so not to one workspace.
      await create(hidden),
      await create(nobodys),
      await create(hidden, mine.client),
      await create('hidden', mine.client),
      await create(nobodys, mine.client),
      await create(foreign, mine.client),
      await create(hidden, gateway.admin, { workspace_id: mine.id }),
    ];
    for (const answer of refused) {
      expect(refusalOf(answer)).toEqual({
        status: 400,
        code: 'validation_failed',
        param: 'secret_mappings.0.secret_reference_id',
        source: 'gateway',
      });
    }
    expect(new Set(refused.map(({ text }) => text)).size).toBe(1);
  });

  it('refuses a foreign reference in an update too, and changes nothing', async () => {
    const foreign = await gateway.reference('theirs', {}, other.client);
    const key = await gateway.virtualKey(reference);
    const secret_mappings = [
      { target_field: 'config.timeout_ms', secret_reference_id: 'cohere' },
      { target_field: 'key', secret_reference_id: foreign },
    ];
    const answer = await noted(gateway.admin.patch(`/v1/virtual-keys/${key}`, { name: 'Changed', secret_mappings }));
    expect(brokenRulesOf(answer)).toEqual(new Set(['secret_mappings.1.secret_reference_id']));
    expect(await gateway.admin.read(`/v1/virtual-keys/${key}`)).toMatchObject({
      name: 'mapped',
      secret_mappings: [{ target_field: 'key', secret_reference_id: reference }],
    });
  });

  it('lets the named workspace use a reference', async () => {
    const own = await gateway.reference('cohere', { allowed_workspaces: [mine.id] });
    const key = await gateway.virtualKey(own, {}, mine.client);
    expect((await gateway.rerank(key, mine.client)).status).toBe(200);
    const another = await gateway.virtualKey(own, { workspace_id: mine.id });
    expect((await gateway.rerank(another, mine.client)).status).toBe(200);
  });

  it('does not use a reference after its workspace was removed in the database', async () => {
    const own = await gateway.reference('cohere', { allowed_workspaces: [mine.id] });
    const key = await gateway.virtualKey(own, {}, mine.client);
    const { dataSource, app } = gateway.app;
    await dataSource.query('DELETE FROM "secret_reference_workspaces" WHERE "secret_reference_id" = $1', [own]);
    app.get(VirtualKeyCache, { strict: false }).clear();
    expect(refusalOf(await noted(gateway.rerank(key, mine.client)))).toMatchObject(UNAVAILABLE);
    expect(gateway.provider.calls).toEqual([]);
    await eventually(() => gateway.app.log().includes(`workspace_not_allowed: secret reference ${own}`));
  });
});

describe('a reference that is in use', () => {
  it('refuses to delete a reference that is in use', async () => {
    const answer = await noted(gateway.admin.delete(`/v1/secret-references/${reference}`));
    expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict' });
    expect((await gateway.rerank(slug)).status).toBe(200);
  });

  it('refuses to remove a workspace that uses the reference', async () => {
    const shared = await gateway.reference('cohere');
    await gateway.virtualKey(shared, {}, mine.client);
    const refused = await patchReference(shared, { allowed_workspaces: [theirs.id] });
    expect(refusalOf(refused)).toMatchObject({ status: 409, code: 'conflict' });
    expect((await patchReference(shared, { allowed_workspaces: [mine.id, theirs.id] })).status).toBe(200);
  });

  it('either narrows or uses a reference when both happen at once', async () => {
    for (let round = 0; round < 8; round += 1) {
      const raced = await gateway.reference('cohere');
      const [narrowed, created] = await Promise.all([
        patchReference(raced, { allowed_workspaces: [theirs.id] }),
        create(raced, mine.client),
      ]);
      expect([
        [200, 400],
        [409, 201],
      ]).toContainEqual([narrowed.status, created.status]);
    }
  });

  it('either deletes or uses a reference when both happen at once', async () => {
    for (let round = 0; round < 8; round += 1) {
      const raced = await gateway.reference('cohere');
      const [deleted, created] = await Promise.all([
        noted(gateway.admin.delete(`/v1/secret-references/${raced}`)),
        create(raced),
      ]);
      expect([
        [204, 400],
        [409, 201],
      ]).toContainEqual([deleted.status, created.status]);
    }
  });
});

describe('internal addresses in references', () => {
  const at = (vault_addr: string): object => ({
    auth_config: { vault_auth_type: 'token', vault_addr, vault_token: gateway.vaultToken },
  });
  const body = { name: 'x', manager_type: 'hashicorp_vault', secret_path: 'secret/x' };

  it.each([
    'http://169.254.169.254',
    'https://169.254.169.254',
    'https://[::ffff:169.254.169.254]',
    'https://127.0.0.2',
    'https://[::1]',
    'https://10.0.0.1',
    'http://vault.example.com',
    'https://metadata.google.internal',
    'https://user:pass@vault.example.com',
    'file:///etc/passwd',
  ])('refuses a new reference with an internal address: %s', async (address) => {
    const answer = await noted(gateway.admin.post('/v1/secret-references', { ...body, ...at(address) }));
    expect(refusalOf(answer)).toMatchObject({
      status: 400,
      code: 'validation_failed',
      param: 'auth_config.vault_addr',
    });
  });

  it.each(['http://169.254.169.254', 'https://127.0.0.2', 'https://localhost'])(
    'refuses an internal address again when the reference is used: %s',
    async (address) => {
      const inside = await gateway.reference('cohere');
      await gateway.app.dataSource.query(
        `UPDATE "secret_references" SET "auth_config" = "auth_config" || jsonb_build_object('vendorC_addr', $2::text),
          "revision" = "revision" + 1 WHERE "id" = $1`,
        [inside, address],
      );
      expect(await testOf(inside)).toBe('refused_by_egress');
    },
  );

  it('does not follow a redirect of the secret manager', async () => {
    const redirected = await gateway.reference('cohere');
    gateway.vault.fail('redirect');
    expect(typeof (await testOf(redirected))).toBe('string');
    expect(gateway.provider.calls).toEqual([]);
  });

  it.each(['evil.example/', 'us-east-1.evil.example', '../x', 'us-east-1#', '169.254.169.254', ''])(
    'refuses an address in the region %j',
    async (region) => {
      const auth_config = {
        aws_auth_type: 'accessKey',
        aws_access_key_id: 'AKIDEXAMPLE123456789',
        aws_secret_access_key: AWS_SECRET,
      };
      const fields = { name: 'x', manager_type: 'aws_sm', secret_path: 'prod/x' };
      const reply = await noted(
        gateway.admin.post('/v1/secret-references', { ...fields, auth_config: { ...auth_config, aws_region: region } }),
      );
      expect(refusalOf(reply)).toMatchObject({ status: 400, code: 'validation_failed' });
      const secret_path = `arn:aws:secretsmanager:${region}:123456789012:secret:x-AbCdEf`;
      const arn = await noted(
        gateway.admin.post('/v1/secret-references', {
          ...fields,
          secret_path,
          auth_config: { ...auth_config, aws_region: 'us-east-1' },
        }),
      );
      expect(refusalOf(arn)).toMatchObject({ status: 400, code: 'validation_failed' });
    },
  );
});

describe('the secrecy of a secret', () => {
  const SECRETS = (): readonly string[] => [VALUE, OTHER_VALUE, BROKEN, AWS_SECRET, gateway.vaultToken];

  function expectNothingIn(place: string): void {
    for (const secret of SECRETS()) {
      for (const form of [secret, JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString('base64')]) {
        expect(place.includes(form.replace(/=+$/, '')) ? secret : 'nothing').toBe('nothing');
      }
    }
  }

  beforeAll(async () => {
    const broken = await gateway.reference('broken');
    const fields = [{ target_field: 'key', secret_reference_id: broken, value_format: 'json' }];
    const unreadable = await gateway.virtualKey(broken, { secret_mappings: fields });
    const keyless = await gateway.virtualKey(broken, {
      secret_mappings: [{ target_field: 'key', secret_reference_id: broken, secret_key: 'other' }],
    });
    const wrong = await gateway.virtualKey(broken, {
      config: {},
      secret_mappings: ['key', 'config.base_url'].map((target_field) => ({
        target_field,
        secret_reference_id: broken,
      })),
    });
    for (const key of [unreadable, keyless, wrong]) {
      expect(refusalOf(await noted(gateway.rerank(key)))).toMatchObject(UNAVAILABLE);
      await noted(gateway.admin.post(`/v1/virtual-keys/${key}/test`));
    }
    for (const status of [400, 401, 403, 422, 429, 500]) {
      gateway.provider.replyWith(json({ message: `bad key ${VALUE}` }, status));
      await noted(gateway.rerank(slug));
    }
    await noted(gateway.admin.post(`/v1/secret-references/${reference}/test`));
    for (const path of ['virtual-keys', 'secret-references', 'audit-logs']) {
      await noted(gateway.admin.get(`/v1/${path}?page_size=100`));
    }
    await noted(gateway.admin.get('/metrics'));
  });

  it('returns a secret in no answer, even when the provider repeats it', () => {
    expect(answers.length).toBeGreaterThan(60);
    for (const { text, headers } of answers) expectNothingIn(text + JSON.stringify(headers));
  });

  it('stores no secret in the database', async () => {
    const dump: unknown[] = [];
    for (const { tableName } of gateway.app.dataSource.entityMetadatas) {
      dump.push(await gateway.app.dataSource.query(`SELECT "t"::text FROM "${tableName}" AS "t"`));
    }
    const text = JSON.stringify(dump);
    expect(text).toContain(reference);
    expectNothingIn(text);
  });

  it('logs no secret at the most detailed level', () => {
    const log = gateway.app.log();
    expect(log).toContain('"event":"secret_fetch_failed"');
    expect(log).not.toContain('"event":"defect"');
    expectNothingIn(log);
  });

  it('logs a failed fetch with reference, organisation and code', () => {
    const lines = gateway.app
      .log()
      .split('\n')
      .filter((line) => line.includes('"event":"secret_fetch_failed"'));
    const [line = '{}'] = lines;
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      secret_reference_id: expect.any(String),
      organisation_id: expect.any(String),
      manager: 'vendorC_vault',
      code: expect.any(String),
      detail: expect.any(String),
    });
  });
});

it("refuses another tenant's test of a secret reference", async () => {
  const foreign = await gateway.reference('theirs', {}, other.client);
  const answer = await noted(gateway.admin.post(`/v1/secret-references/${foreign}/test`));
  expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'not_found' });
  const own = await other.client.post(`/v1/secret-references/${foreign}/test`);
  expect(jsonOf(own)).toMatchObject({ ok: true });
});
