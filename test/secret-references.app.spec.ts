import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type JsonObject, readArray, readObject, readString } from '../src/common/json/read.js';
import { SecretMapping } from '../src/secret-references/secret-mapping.entity.js';
import { SecretReferenceStore } from '../src/secret-references/secret-reference.store.js';
import { SecretReferenceEncryptor } from '../src/secret-references/secret-reference.credentials.js';
import { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';
import { addTenant, type Tenant } from './support/tenants.js';

const PATH = '/v1/secret-references';
const ACCESS_KEY = 'AKIDEXAMPLE123456789';
const AWS_SECRET = 'aws-secret-access-key-0123456789';
const NEW_SECRET = 'aws-secret-access-key-abcdefghij';
const CLIENT_SECRET = 'entra-client-secret-0123456789ab';
const VAULT_TOKEN = 'hvs.vault-token-0123456789abcdef';
const SECRETS = [ACCESS_KEY, AWS_SECRET, NEW_SECRET, CLIENT_SECRET, VAULT_TOKEN];

const AWS = {
  aws_auth_type: 'accessKey',
  aws_access_key_id: ACCESS_KEY,
  aws_secret_access_key: AWS_SECRET,
  aws_region: 'eu-central-1',
};
const CLOUD_A = {
  cloudA_auth_type: 'accessKey',
  cloudA_access_key_id: ACCESS_KEY,
  cloudA_secret_access_key: AWS_SECRET,
  cloudA_region: 'eu-central-1',
};
const ROLE = {
  aws_auth_type: 'assumedRole',
  aws_role_arn: 'arn:aws:iam::123456789012:role/tollgate',
  aws_region: 'eu-central-1',
};
const ENTRA = {
  azure_auth_mode: 'entra',
  azure_entra_tenant_id: '11111111-2222-4333-8444-555555555555',
  azure_entra_client_id: '66666666-7777-4888-9999-000000000000',
  azure_entra_client_secret: CLIENT_SECRET,
  azure_vault_url: 'https://one.vault.azure.net',
};
const VAULT = { vault_auth_type: 'token', vault_token: VAULT_TOKEN, vault_addr: 'https://vault.example.com' };

const BODY = { name: 'Cohere', manager_type: 'aws_sm', auth_config: AWS, secret_path: 'prod/cohere' };
const IN_VAULT = { name: 'Vault', manager_type: 'hashicorp_vault', auth_config: VAULT, secret_path: 'secret/cohere' };
const IN_AZURE = { name: 'Azure', manager_type: 'azure_kv', auth_config: ENTRA, secret_path: 'cohere' };

const MANAGE = ['create', 'read', 'update', 'delete', 'list'].map((verb) => `secret_references.${verb}`);
const VALIDATION_FAILED = { status: 400, code: 'validation_failed' };

let gateway: TestApp;
let admin: GatewayClient;
let other: Tenant;
/** A workspace, and a client that acts for it alone. */
let mine: { readonly id: string; readonly client: GatewayClient };
let theirs: { readonly id: string; readonly client: GatewayClient };

beforeAll(async () => {
  gateway = await startTestApp({ SECRET_IDENTITY_ALLOW: '* aws_sm shared/*' });
  admin = new GatewayClient(gateway.url);
  other = await addTenant(gateway, 'other');
  [mine, theirs] = [await addWorkspace('Mine'), await addWorkspace('Theirs')];
});

afterAll(() => gateway.close());

async function addWorkspace(name: string): Promise<{ readonly id: string; readonly client: GatewayClient }> {
  const id = await admin.createWorkspace(name);
  const scopes = [...MANAGE, 'audit_logs.list'];
  const { client } = await admin.createKey({ level: 'workspace', workspace_id: id, scopes });
  return { id, client };
}

async function make(fields: object = {}, client = admin): Promise<string> {
  return readString((await client.create(PATH, { ...BODY, ...fields }))['id'], 'id');
}

const read = (id: string, client = admin): Promise<JsonObject> => client.read(`${PATH}/${id}`);

async function authConfigOf(id: string): Promise<JsonObject> {
  return readObject((await read(id))['auth_config'], 'auth_config');
}

async function revisionOf(id: string): Promise<unknown> {
  const [row] = await gateway.dataSource.query('SELECT "revision" FROM "secret_references" WHERE "id" = $1', [id]);
  return readObject(row, 'row')['revision'];
}

/** The stored credentials with which the gateway would sign in. */
async function openedOf(id: string): Promise<object> {
  const { organisation_id } = await read(id);
  const [row] = await gateway.app
    .get(SecretReferenceStore, { strict: false })
    .findForUse(readString(organisation_id, 'organisation_id'), [id]);
  if (row === undefined) throw new Error('no such row');
  return gateway.app.get(SecretReferenceEncryptor, { strict: false }).open(row);
}

/** Makes a virtual key that uses the reference. */
async function use(secretReferenceId: string, ownerSlug: string, ownerWorkspaceId: string | null = null) {
  const { organisation_id } = await read(secretReferenceId);
  const organisationId = readString(organisation_id, 'organisation_id');
  const owner = { ownerType: 'virtual-key' as const, ownerId: randomUUID(), ownerSlug, ownerWorkspaceId };
  const place = { targetField: 'key', secretKey: null, valueFormat: 'string' as const };
  await gateway.dataSource.manager.insert(SecretMapping, { organisationId, secretReferenceId, ...owner, ...place });
}

describe('a secret reference', () => {
  it('makes, reads, lists, changes and deletes a secret reference', async () => {
    const created = await admin.post(PATH, {
      ...BODY,
      name: 'Cohere (EU)',
      description: 'for the search team',
      secret_key: 'api_key',
      secret_version: 'AWSPREVIOUS',
      tags: { team: 'search', level: 3, nested: { a: [null, true] } },
    });
    expect(created.status).toBe(201);
    const { id } = jsonOf(created);
    expect(jsonOf(created)).toEqual({ id: expect.any(String), slug: 'cohere-eu', object: 'secret-reference' });
    const whole = await read(String(id));
    expect(whole).toEqual({
      id,
      slug: 'cohere-eu',
      object: 'secret-reference',
      organisation_id: expect.any(String),
      name: 'Cohere (EU)',
      description: 'for the search team',
      manager_type: 'aws_sm',
      secret_path: 'prod/cohere',
      secret_key: 'api_key',
      secret_version: 'AWSPREVIOUS',
      allow_all_workspaces: true,
      allowed_hosts: null,
      allowed_providers: null,
      allowed_workspaces: null,
      tags: { team: 'search', level: 3, nested: { a: [null, true] } },
      status: 'active',
      auth_config: {
        aws_auth_type: 'accessKey',
        aws_region: 'eu-central-1',
        masked_aws_access_key_id: '****6789',
        masked_aws_secret_access_key: '****6789',
      },
      created_by: expect.any(String),
      last_resolved_at: null,
      last_error: null,
      created_at: expect.any(Number),
      updated_at: expect.any(Number),
    });
    expect(await admin.list(PATH)).toContainEqual(whole);
    const changed = await admin.patch(`${PATH}/${String(id)}`, { name: 'Renamed', description: null, tags: null });
    expect(changed.status).toBe(200);
    expect(jsonOf(changed)).toMatchObject({ slug: 'cohere-eu', name: 'Renamed', description: null, tags: null });
    expect((await admin.delete(`${PATH}/${String(id)}`)).status).toBe(204);
    expect(refusalOf(await admin.get(`${PATH}/${String(id)}`))).toMatchObject({ status: 404, code: 'not_found' });
  });

  it('accepts the longest texts that the interface allows, and null in every field that may be null', async () => {
    const longest = {
      name: 'n'.repeat(255),
      slug: 's'.repeat(255),
      secret_path: 'p'.repeat(1_024),
      description: 'd'.repeat(1_024),
      secret_key: 'k'.repeat(255),
      secret_version: 'v'.repeat(64),
    };
    expect(await read(await make(longest))).toMatchObject(longest);
    const nulls = { description: null, secret_key: null, secret_version: null, tags: null };
    expect(await read(await make(nulls))).toMatchObject(nulls);
  });

  it('makes the slug of a secret reference from its name or as requested, unique in its organisation', async () => {
    const name = `Twin ${randomUUID().slice(0, 8)}`;
    const slugs = await Promise.all(Array.from({ length: 4 }, async () => (await read(await make({ name })))['slug']));
    expect(new Set(slugs).size).toBe(4);
    const wanted = { ...BODY, slug: 'wanted' };
    const answers = await Promise.all(Array.from({ length: 4 }, () => admin.post(PATH, wanted)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict', param: 'slug' });
    }
    await other.client.create(PATH, wanted);
  });

  it.each([
    ['name', { name: undefined }],
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(256) }],
    ['name', { name: 'x\0' }],
    ['name', { name: 1 }],
    ['manager_type', { manager_type: undefined }],
    ['manager_type', { manager_type: 'gcp_sm' }],
    ['manager_type', { manager_type: ['aws_sm'] }],
    ['auth_config', { auth_config: undefined }],
    ['auth_config', { auth_config: null }],
    ['auth_config', { auth_config: [] }],
    ['auth_config', { auth_config: 'key' }],
    ['auth_config', { auth_config: { ...AWS, aws_region: 'a\0' } }],
    ['secret_path', { secret_path: undefined }],
    ['secret_path', { secret_path: '' }],
    ['secret_path', { secret_path: 'x'.repeat(1_025) }],
    ['slug', { slug: '' }],
    ['slug', { slug: 'a b' }],
    ['slug', { slug: 'x'.repeat(256) }],
    ['description', { description: 'x'.repeat(1_025) }],
    ['secret_key', { secret_key: '' }],
    ['secret_key', { secret_key: 'x'.repeat(256) }],
    ['secret_version', { secret_version: '' }],
    ['secret_version', { secret_version: 'x'.repeat(65) }],
    ['allow_all_workspaces', { allow_all_workspaces: 'true' }],
    ['allow_all_workspaces', { allow_all_workspaces: null }],
    ['allowed_workspaces', { allowed_workspaces: [] }],
    ['allowed_workspaces', { allowed_workspaces: 'default' }],
    ['allowed_workspaces', { allowed_workspaces: [1] }],
    ['allowed_workspaces', { allowed_workspaces: [''] }],
    ['allowed_workspaces.1', { allowed_workspaces: ['default', 'nobody'] }],
    ['allowed_workspaces.0', { allowed_workspaces: [randomUUID()] }],
    ['allowed_workspaces.0', { allowed_workspaces: ["' OR 1=1 --\0"] }],
    ['tags', { tags: [] }],
    ['tags', { tags: 'a' }],
    ['tags', { tags: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, 1])) }],
    ['tags', { tags: { long: 'x'.repeat(16 * 1_024) } }],
    ['tags', { tags: { deep: [{ text: 'x\0' }] } }],
    ['status', { status: 'active' }],
    ['masked', { masked: 'x' }],
  ])('names %s in the refusal of a secret reference: %j', async (param, fields) => {
    const answer = await admin.post(PATH, { ...BODY, ...fields });
    expect(refusalOf(answer)).toMatchObject(VALIDATION_FAILED);
    expect([...brokenRulesOf(answer)]).toEqual([param]);
    for (const secret of SECRETS) expect(answer.text).not.toContain(secret);
  });

  it('names both fields when a secret reference is for all workspaces and for some at once', async () => {
    const fields = { allow_all_workspaces: true, allowed_workspaces: ['default'] };
    const both = new Set(['allow_all_workspaces', 'allowed_workspaces']);
    expect(brokenRulesOf(await admin.post(PATH, { ...BODY, ...fields }))).toEqual(both);
    expect(brokenRulesOf(await admin.patch(`${PATH}/${await make()}`, fields))).toEqual(both);
  });

  it.each(['id', 'slug', 'object', 'manager_type', 'status', 'created_by', 'revision'])(
    'does not let an update change the %s of a secret reference',
    async (field) => {
      const answer = await admin.patch(`${PATH}/${await make()}`, { [field]: 'azure_kv' });
      expect(refusalOf(answer)).toMatchObject({ ...VALIDATION_FAILED, param: field });
    },
  );

  it('applies the rules of a create to an update, those of its manager too', async () => {
    const id = await make();
    for (const [param, fields] of [
      ['name', { name: '' }],
      ['name', { name: null }],
      ['secret_path', { secret_path: null }],
      ['secret_path', { secret_path: 'arn:aws:s3:::bucket' }],
      ['secret_key', { secret_key: '' }],
      ['allowed_workspaces', { allowed_workspaces: [] }],
      ['allowed_workspaces.0', { allowed_workspaces: ['nobody'] }],
      ['tags', { tags: [] }],
      ['auth_config', { auth_config: null }],
      ['auth_config.aws_region', { auth_config: { aws_region: 'evil.example/' } }],
      ['auth_config.aws_secret_access_key', { auth_config: { aws_secret_access_key: null } }],
    ] as const) {
      expect([...brokenRulesOf(await admin.patch(`${PATH}/${id}`, fields))]).toEqual([param]);
    }
    expect(await openedOf(id)).toEqual(CLOUD_A);
  });
});

describe('auth_config', () => {
  it.each([
    ['aws_sm', AWS, 'aws_region'],
    ['cloudA_sm', CLOUD_A, 'cloudA_region'],
    ['aws_sm', CLOUD_A, 'aws_region'],
    ['cloudA_sm', AWS, 'cloudA_region'],
    ['azure_kv', ENTRA, 'azure_vault_url'],
    ['cloudB_kv', ENTRA, 'cloudB_vault_url'],
    ['hashicorp_vault', VAULT, 'vault_addr'],
    ['vendorC_vault', VAULT, 'vendorC_addr'],
  ])(
    'accepts auth_config in either spelling and returns it in that of %s',
    async (manager_type, auth_config, field) => {
      const id = await make({
        manager_type,
        auth_config,
        secret_path: 'secret/cohere'.slice(manager_type.includes('kv') ? 7 : 0),
      });
      expect(await read(id)).toMatchObject({ manager_type, auth_config: { [field]: expect.any(String) } });
    },
  );

  it.each([
    ['aws_region', BODY, { ...AWS, aws_region: undefined }],
    ['cloudA_region', BODY, { ...CLOUD_A, cloudA_region: undefined }],
    ['aws_region', BODY, { ...AWS, aws_region: 'nowhere.example/' }],
    ['cloudA_region', BODY, { ...CLOUD_A, cloudA_region: 7 }],
    ['aws_role_arn', BODY, { ...AWS, aws_role_arn: ROLE.aws_role_arn }],
    ['region', BODY, { ...AWS, region: 'us-east-1' }],
    ['nothing', BODY, { ...AWS, nothing: null }],
    ['constructor', BODY, { ...AWS, constructor: 'x' }],
    ['masked_aws_region', BODY, { ...AWS, masked_aws_region: 'x' }],
    ['aws_auth_type', BODY, { ...AWS, aws_auth_type: 'password' }],
    ['aws_auth_type', BODY, { ...AWS, aws_auth_type: 'toString' }],
    ['aws_auth_type', BODY, {}],
    ['cloudA_region', BODY, { ...AWS, cloudA_region: 'eu-central-1' }],
    ['aws_external_id', BODY, { ...ROLE, aws_external_id: 'my-own' }],
    ['azure_vault_url', IN_AZURE, { ...ENTRA, azure_vault_url: 'https://vault.evil.example' }],
    [
      'cloudB_entra_client_secret',
      IN_AZURE,
      { cloudB_auth_mode: 'entra', ...ENTRA, azure_auth_mode: undefined, azure_entra_client_secret: undefined },
    ],
    ['vault_addr', IN_VAULT, { ...VAULT, vault_addr: 'https://169.254.169.254' }],
    ['vault_token', IN_VAULT, { ...VAULT, vault_token: '' }],
  ])('names %s in the spelling of the caller: %j', async (field, body, auth_config) => {
    const answer = await admin.post(PATH, { ...body, auth_config });
    expect(refusalOf(answer)).toMatchObject({ ...VALIDATION_FAILED, param: `auth_config.${field}` });
    for (const secret of SECRETS) expect(answer.text).not.toContain(secret);
  });

  it('refuses auth_config that needs the secrets of an identity that the operator has not allowed', async () => {
    const auth_config = { aws_auth_type: 'serviceRole', aws_region: 'eu-central-1' };
    const answer = await admin.post(PATH, { ...BODY, auth_config });
    expect(refusalOf(answer)).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(answer.text).toContain('SECRET_IDENTITY_ALLOW');
    const id = await make({ auth_config, secret_path: 'shared/cohere' });
    const moved = await admin.patch(`${PATH}/${id}`, { secret_path: 'prod/cohere' });
    expect(refusalOf(moved)).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(await read(id)).toMatchObject({ secret_path: 'shared/cohere' });
    const switched = await admin.patch(`${PATH}/${await make()}`, { auth_config: { aws_auth_type: 'serviceRole' } });
    expect(refusalOf(switched)).toMatchObject({ status: 403, code: 'permission_denied' });
  });

  it('generates an external id for an assumed role, shows it and keeps it', async () => {
    const [id, twin] = [
      await make({ auth_config: { ...ROLE, aws_external_id: null } }),
      await make({ auth_config: ROLE }),
    ];
    const { aws_external_id } = await authConfigOf(id);
    expect(aws_external_id).toMatch(/^tollgate-[0-9a-f-]{36}$/);
    expect((await authConfigOf(twin))['aws_external_id']).not.toBe(aws_external_id);
    const own = await admin.patch(`${PATH}/${id}`, { auth_config: { aws_external_id: 'my-own' } });
    expect(refusalOf(own)).toMatchObject({ ...VALIDATION_FAILED, param: 'auth_config.aws_external_id' });
    const same = { aws_external_id, aws_region: 'us-east-1' };
    expect((await admin.patch(`${PATH}/${id}`, { auth_config: same })).status).toBe(200);
    expect(await authConfigOf(id)).toEqual({ ...ROLE, ...same });
    await admin.patch(`${PATH}/${id}`, { auth_config: AWS });
    expect(await openedOf(id)).toEqual(CLOUD_A);
    await admin.patch(`${PATH}/${id}`, { auth_config: ROLE });
    const again = (await authConfigOf(id))['aws_external_id'];
    expect(again).toMatch(/^tollgate-/);
    expect(again).not.toBe(aws_external_id);
  });
});

describe('an update', () => {
  it('merges auth_config by field in either spelling, and removes fields that are null', async () => {
    const id = await make({ auth_config: { ...AWS, aws_session_token: 'session-token-0123456789' } });
    await admin.patch(`${PATH}/${id}`, { auth_config: { cloudA_region: 'us-east-1' } });
    expect(await openedOf(id)).toMatchObject({ ...CLOUD_A, cloudA_region: 'us-east-1' });
    await admin.patch(`${PATH}/${id}`, { auth_config: { aws_session_token: null, aws_secret_access_key: NEW_SECRET } });
    expect(await openedOf(id)).toEqual({
      ...CLOUD_A,
      cloudA_region: 'us-east-1',
      cloudA_secret_access_key: NEW_SECRET,
    });
  });

  it('changes nothing when an update contains the masks that were read', async () => {
    for (const body of [
      BODY,
      IN_AZURE,
      IN_VAULT,
      { ...BODY, auth_config: ROLE },
      { ...BODY, allowed_workspaces: ['default'] },
    ]) {
      const id = await make(body);
      const [before, opened, revision] = [await read(id), await openedOf(id), await revisionOf(id)];
      const { name, description, auth_config, secret_path, secret_key, secret_version, tags } = before;
      const { allow_all_workspaces, allowed_workspaces } = before;
      const workspaces =
        allow_all_workspaces === true ? { allow_all_workspaces } : { allow_all_workspaces, allowed_workspaces };
      const fields = { name, description, auth_config, secret_path, secret_key, secret_version, tags, ...workspaces };
      const answer = await admin.put(`${PATH}/${id}`, fields);
      expect(answer.status).toBe(200);
      expect(jsonOf(answer)).toEqual(before);
      expect([await openedOf(id), await revisionOf(id)]).toEqual([opened, revision]);
      expect(await admin.list(`/v1/audit-logs?resource=${id}`)).toHaveLength(1);
    }
  });

  it('keeps a field whose mask comes back under its own name, and refuses the mask of another value', async () => {
    const id = await make();
    const auth_config = { aws_secret_access_key: '****6789', masked_cloudA_access_key_id: '****6789' };
    expect((await admin.patch(`${PATH}/${id}`, { auth_config })).status).toBe(200);
    expect(await openedOf(id)).toEqual(CLOUD_A);
    const stale = { masked_aws_secret_access_key: '****0000' };
    const answer = await admin.patch(`${PATH}/${id}`, { auth_config: stale });
    expect(refusalOf(answer)).toMatchObject({
      ...VALIDATION_FAILED,
      param: 'auth_config.masked_aws_secret_access_key',
    });
  });

  it('drops the fields of the old kind of credentials when the kind changes', async () => {
    const id = await make(IN_VAULT);
    const auth_config = { vault_auth_type: 'approle', vault_role_id: 'role', vault_secret_id: 'secret-id-0123456789' };
    expect((await admin.patch(`${PATH}/${id}`, { auth_config })).status).toBe(200);
    expect(await authConfigOf(id)).toEqual({
      vault_auth_type: 'approle',
      vault_addr: VAULT.vault_addr,
      vault_role_id: 'role',
      masked_vault_secret_id: '****6789',
    });
    const incomplete = await admin.patch(`${PATH}/${id}`, { auth_config: { vault_auth_type: 'jwt' } });
    expect([...brokenRulesOf(incomplete)]).toEqual(expect.arrayContaining(['auth_config.vault_jwt']));
    expect([...brokenRulesOf(incomplete)]).not.toContain('auth_config.vault_secret_id');
  });

  it('refuses to send a stored secret to another host: a new address needs the secret again', async () => {
    for (const [body, host, secret, known] of [
      [IN_AZURE, { azure_vault_url: 'https://two.vault.azure.net' }, 'azure_entra_client_secret', CLIENT_SECRET],
      [IN_VAULT, { vault_addr: 'https://vault.evil.example' }, 'vault_token', VAULT_TOKEN],
    ] as const) {
      const id = await make(body);
      for (const extra of [
        {},
        { [secret]: `****${known.slice(-4)}` },
        { [`masked_${secret}`]: `****${known.slice(-4)}` },
      ]) {
        const answer = await admin.patch(`${PATH}/${id}`, { auth_config: { ...host, ...extra } });
        expect([...brokenRulesOf(answer)]).toEqual([`auth_config.${secret}`]);
      }
      expect(await authConfigOf(id)).not.toMatchObject(host);
      expect((await admin.patch(`${PATH}/${id}`, { auth_config: { ...host, [secret]: known } })).status).toBe(200);
      expect(await authConfigOf(id)).toMatchObject(host);
    }
    const id = await make(IN_VAULT);
    const auth_config = { vault_addr: 'https://vault.example.com/behind' };
    expect((await admin.patch(`${PATH}/${id}`, { auth_config })).status).toBe(200);
  });

  it.each([
    [{ name: 'Other' }, 1],
    [{ description: 'other', tags: { a: 1 } }, 1],
    [{ secret_path: 'prod/cohere', auth_config: { aws_region: 'eu-central-1' } }, 1],
    [{ secret_path: 'prod/other' }, 2],
    [{ secret_key: 'other' }, 2],
    [{ secret_version: 'AWSPREVIOUS' }, 2],
    [{ auth_config: { aws_region: 'us-east-1' } }, 2],
    [{ auth_config: { aws_secret_access_key: NEW_SECRET }, secret_path: 'prod/other' }, 2],
    [{ allow_all_workspaces: false }, 2],
    [{ allowed_workspaces: ['default'] }, 2],
    [{ allow_all_workspaces: true }, 1],
  ])('after an update with %j the revision of a secret reference is %i', async (fields, revision) => {
    const id = await make();
    expect((await admin.patch(`${PATH}/${id}`, fields)).status).toBe(200);
    expect(await revisionOf(id)).toBe(revision);
  });

  it('keeps every one of several concurrent updates of a secret reference', async () => {
    const id = await make();
    const answers = await Promise.all([
      admin.patch(`${PATH}/${id}`, { auth_config: { aws_region: 'us-east-1' } }),
      admin.patch(`${PATH}/${id}`, { auth_config: { aws_secret_access_key: NEW_SECRET } }),
      admin.patch(`${PATH}/${id}`, { allowed_workspaces: ['default'] }),
      admin.patch(`${PATH}/${id}`, { allowed_workspaces: [mine.id, theirs.id] }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const opened = { ...CLOUD_A, cloudA_region: 'us-east-1', cloudA_secret_access_key: NEW_SECRET };
    expect([await openedOf(id), await revisionOf(id)]).toEqual([opened, 5]);
  });
});

describe('its secrets', () => {
  it('shows the secrets of a reference neither in answers nor in the audit log, the database or the log', async () => {
    const ids = [await make(), await make(IN_AZURE), await make(IN_VAULT)];
    await admin.patch(`${PATH}/${ids[0]}`, { auth_config: { aws_secret_access_key: NEW_SECRET } });
    await admin.post(PATH, { ...BODY, slug: 'not a slug' });
    const texts = [
      (await admin.get(`${PATH}?page_size=100`)).text,
      (await admin.get('/v1/audit-logs?page_size=100')).text,
      gateway.log(),
    ];
    for (const id of ids) texts.push((await admin.get(`${PATH}/${id}`)).text);
    for (const { tableName } of gateway.dataSource.entityMetadatas) {
      texts.push(JSON.stringify(await gateway.dataSource.query(`SELECT "t"::text FROM "${tableName}" AS "t"`)));
    }
    const text = texts.join('\n');
    expect(text).toContain('eu-central-1');
    for (const secret of SECRETS) {
      for (const form of [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')]) {
        expect(text).not.toContain(form.replace(/=+$/, ''));
      }
    }
  });

  it('audits the secrets of a reference by the names of their fields', async () => {
    const id = await make();
    await admin.patch(`${PATH}/${id}`, { name: BODY.name, auth_config: { aws_region: 'us-east-1' }, tags: { a: 1 } });
    await admin.delete(`${PATH}/${id}`);
    const entries = await admin.list(`/v1/audit-logs?resource=${id}`);
    expect(entries.map(({ action }) => action)).toEqual([
      'secret_references.delete',
      'secret_references.update',
      'secret_references.create',
    ]);
    expect(readArray(entries[1]?.['changed_fields'], 'changed_fields')).toEqual(['tags', 'auth_config']);
  });

  it('shows and lists a reference whose secrets do not open, and accepts them again', async () => {
    const [id, healthy] = [await make({ name: 'Damaged' }), await make()];
    await gateway.dataSource.query(
      'UPDATE "secret_references" SET "sealed_auth_config" = (SELECT "sealed_auth_config" FROM "secret_references" WHERE "id" = $1) WHERE "id" = $2',
      [healthy, id],
    );
    expect(await authConfigOf(id)).toMatchObject({ aws_region: 'eu-central-1', masked_aws_secret_access_key: '****' });
    expect((await admin.get(PATH)).status).toBe(200);
    expect((await admin.patch(`${PATH}/${id}`, { name: 'Still here' })).status).toBe(200);
    for (const fields of [
      { secret_path: 'prod/other' },
      { auth_config: { aws_region: 'us-east-1' } },
      { auth_config: { ...AWS, aws_secret_access_key: '****', aws_session_token: null } },
      { auth_config: AWS },
    ]) {
      const answer = await admin.patch(`${PATH}/${id}`, fields);
      expect(refusalOf(answer)).toMatchObject({ status: 502, code: 'secret_unavailable' });
    }
    expect((await admin.patch(`${PATH}/${id}`, { auth_config: { ...AWS, aws_session_token: null } })).status).toBe(200);
    expect(await openedOf(id)).toEqual(CLOUD_A);
  });
});

describe('the list', () => {
  const slugsOf = (items: readonly JsonObject[]): readonly unknown[] => items.map(({ slug }) => slug);

  it('lists secret references newest first, in pages', async () => {
    const tenant = await addTenant(gateway, `pages-${randomUUID()}`);
    for (const slug of ['a', 'b', 'c']) await make({ slug, allowed_workspaces: ['default'] }, tenant.client);
    expect(slugsOf(await tenant.client.list(PATH))).toEqual(['c', 'b', 'a']);
    const page = await tenant.client.read(`${PATH}?page_size=2&current_page=1`);
    expect(page).toMatchObject({
      object: 'list',
      total: 3,
      data: [{ slug: 'a', allowed_workspaces: [tenant.workspaceId] }],
    });
  });

  it('lists secret references of a manager, of a name, and with tags', async () => {
    const tenant = await addTenant(gateway, `filters-${randomUUID()}`);
    const find = async (query: Readonly<Record<string, string>>): Promise<readonly unknown[]> =>
      slugsOf(await tenant.client.list(`${PATH}?${new URLSearchParams(query).toString()}`));
    await make(
      { slug: 'aws', name: 'Search 100%', tags: { team: 'search', env: { stage: 'prod' }, n: [1, 2] } },
      tenant.client,
    );
    await make(
      { ...IN_AZURE, slug: 'azure', name: 'search_two', tags: { team: 'ads', env: { stage: 'prod' } } },
      tenant.client,
    );
    await make({ ...IN_VAULT, slug: 'vault', name: 'searchXtwo \\ Ä' }, tenant.client);

    expect(await find({ manager_type: 'aws_sm' })).toEqual(['aws']);
    expect(await find({ manager_type: 'cloudA_sm' })).toEqual(['aws']);
    expect(await find({ manager_type: 'cloudB_kv' })).toEqual(['azure']);
    expect(await find({ search: 'SEARCH' })).toEqual(['vault', 'azure', 'aws']);
    expect(await find({ search: '%' })).toEqual(['aws']);
    expect(await find({ search: 'h_t' })).toEqual(['azure']);
    expect(await find({ search: '\\' })).toEqual(['vault']);
    expect(await find({ search: 'ä' })).toEqual(['vault']);
    expect(await find({ search: "'; --" })).toEqual([]);
    expect(await find({ tags: '{"team":"search"}' })).toEqual(['aws']);
    expect(await find({ tags: '{"env":{"stage":"prod"}}' })).toEqual(['azure', 'aws']);
    expect(await find({ tags: '{"n":[2]}' })).toEqual(['aws']);
    expect(await find({ tags: '{"n":1e999999}' })).toEqual([]);
    expect(await find({ tags: '{}' })).toEqual(['vault', 'azure', 'aws']);
    expect(await find({ tags: '{"env":{}}', search: 'two', manager_type: 'azure_kv' })).toEqual(['azure']);
    expect(await find({ tags: '{"team":"search"}', manager_type: 'azure_kv' })).toEqual([]);
    expect(await tenant.client.read(`${PATH}?search=two&page_size=1`)).toMatchObject({ total: 2 });
  });

  it.each([
    ['manager_type', 'manager_type=gcp'],
    ['tags', 'tags=team'],
    ['tags', 'tags=[]'],
    ['tags', 'tags=null'],
    ['tags', 'tags={}&tags={}'],
    ['tags', `tags=${encodeURIComponent('{"a":"\\u0000"}')}`],
    ['tags', `tags=${encodeURIComponent(`{"a":${'['.repeat(100)}${']'.repeat(100)}}`)}`],
    ['search', 'search='],
    ['search', `search=${'x'.repeat(256)}`],
    ['search', 'search=%00'],
    ['current_page', 'current_page=-1'],
    ['page_size', 'page_size=0'],
    ['page_size', 'page_size=101'],
    ['status', 'status=inactive'],
  ])('refuses the list of secret references for a wrong %s: %s', async (param, query) => {
    const answer = await admin.get(`${PATH}?${query}`);
    expect(refusalOf(answer)).toMatchObject(VALIDATION_FAILED);
    expect([...brokenRulesOf(answer)]).toEqual([param]);
  });
});

describe('the workspaces of a reference', () => {
  it('accepts workspaces by id or slug, keeps each once, and replaces them on an update', async () => {
    const { id: byDefault } = await admin.read('/v1/workspaces/default');
    const wanted = ['default', mine.id.toUpperCase(), String(byDefault), 'mine'];
    const id = await make({ allowed_workspaces: wanted });
    const sorted = [String(byDefault), mine.id].sort();
    expect(await read(id)).toMatchObject({ allow_all_workspaces: false, allowed_workspaces: sorted });
    const replaced = await admin.patch(`${PATH}/${id}`, {
      allowed_workspaces: ['theirs'],
      allow_all_workspaces: false,
    });
    expect(jsonOf(replaced)).toMatchObject({ allow_all_workspaces: false, allowed_workspaces: [theirs.id] });
    const everybody = await admin.patch(`${PATH}/${id}`, { allow_all_workspaces: true });
    expect(jsonOf(everybody)).toMatchObject({ allow_all_workspaces: true, allowed_workspaces: null });
    const nobody = await admin.patch(`${PATH}/${id}`, { allow_all_workspaces: false });
    expect(jsonOf(nobody)).toMatchObject({ allow_all_workspaces: false, allowed_workspaces: null });
    await admin.patch(`${PATH}/${id}`, { allowed_workspaces: ['mine', 'theirs'] });
    const withoutList = await admin.patch(`${PATH}/${id}`, { allowed_workspaces: null });
    expect(jsonOf(withoutList)).toMatchObject({ allow_all_workspaces: false, allowed_workspaces: null });
    const [{ count } = { count: undefined }]: readonly { count?: unknown }[] = await gateway.dataSource.query(
      'SELECT count(*)::int AS "count" FROM "secret_reference_workspaces" WHERE "secret_reference_id" = $1',
      [id],
    );
    expect(count).toBe(0);
  });

  it('accepts a secret reference without workspaces', async () => {
    const id = await make({ allow_all_workspaces: false });
    expect(await read(id)).toMatchObject({ allow_all_workspaces: false, allowed_workspaces: null });
    expect((await mine.client.get(`${PATH}/${id}`)).status).toBe(404);
  });

  it('returns the same refusal for a workspace of another organisation and an unknown one', async () => {
    const answer = await admin.post(PATH, { ...BODY, allowed_workspaces: [other.workspaceId] });
    expect(refusalOf(answer)).toMatchObject({ ...VALIDATION_FAILED, param: 'allowed_workspaces.0' });
    const unknown = await admin.post(PATH, { ...BODY, allowed_workspaces: [randomUUID()] });
    expect(answer.text).toBe(unknown.text);
  });

  it('removes a deleted workspace from its secret references', async () => {
    const { id: workspace } = await admin.create('/v1/workspaces', { name: 'Short-lived' });
    const id = await make({ allowed_workspaces: [String(workspace), 'mine'] });
    expect((await admin.delete(`/v1/workspaces/${String(workspace)}`)).status).toBe(204);
    expect(await read(id)).toMatchObject({ allow_all_workspaces: false, allowed_workspaces: [mine.id] });
  });
});

describe('a caller of one workspace', () => {
  const MISMATCH = { status: 403, code: 'tenant_mismatch' };
  const DENIED = { status: 403, code: 'permission_denied' };

  it('shows a caller of one workspace the references for all workspaces and for its own, and only its own workspace', async () => {
    const [all, shared, own, foreign] = [
      await make({ slug: 'for-all' }),
      await make({ slug: 'for-both', allowed_workspaces: ['mine', 'theirs'] }),
      await make({ slug: 'for-mine', allowed_workspaces: ['mine'] }),
      await make({ slug: 'for-theirs', allowed_workspaces: ['theirs'] }),
    ];
    expect(await read(all, mine.client)).toMatchObject({ allow_all_workspaces: true, allowed_workspaces: null });
    expect(await read(shared, mine.client)).toMatchObject({ allowed_workspaces: [mine.id] });
    expect(await read('for-mine', mine.client)).toEqual(await read(own));
    for (const ref of [foreign, 'for-theirs']) {
      const hidden = [
        await mine.client.get(`${PATH}/${ref}`),
        await mine.client.patch(`${PATH}/${ref}`, { name: 'Mine' }),
        await mine.client.delete(`${PATH}/${ref}`),
      ];
      for (const answer of hidden) expect(refusalOf(answer)).toMatchObject({ status: 404, code: 'not_found' });
    }
    const listed = new Set((await mine.client.list(`${PATH}?page_size=100`)).map(({ slug }) => slug));
    expect([listed.has('for-all'), listed.has('for-both'), listed.has('for-mine')]).toEqual([true, true, true]);
    expect(listed.has('for-theirs')).toBe(false);
    const { total, data } = await mine.client.read(`${PATH}?page_size=100&search=cohere`);
    expect(readArray(data, 'data')).toHaveLength(Number(total));
  });

  it('makes references of a caller of one workspace for that workspace', async () => {
    for (const fields of [{}, { allow_all_workspaces: false }, { allowed_workspaces: ['mine'] }]) {
      const id = await make(fields, mine.client);
      expect(await read(id)).toMatchObject({ allow_all_workspaces: false, allowed_workspaces: [mine.id] });
    }
    for (const [param, fields] of [
      ['allow_all_workspaces', { allow_all_workspaces: true }],
      ['allowed_workspaces.1', { allowed_workspaces: ['mine', 'theirs'] }],
      ['allowed_workspaces.0', { allowed_workspaces: [theirs.id] }],
      ['allowed_workspaces.0', { allowed_workspaces: ['nobody'] }],
    ] as const) {
      expect(refusalOf(await mine.client.post(PATH, { ...BODY, ...fields }))).toMatchObject({ ...MISMATCH, param });
    }
  });

  it('lets a caller of one workspace change and delete only references for that workspace alone', async () => {
    const own = await make({}, mine.client);
    expect((await mine.client.patch(`${PATH}/${own}`, { name: 'Changed', allowed_workspaces: [mine.id] })).status).toBe(
      200,
    );
    for (const fields of [{ allow_all_workspaces: true }, { allowed_workspaces: ['theirs'] }]) {
      expect(refusalOf(await mine.client.patch(`${PATH}/${own}`, fields))).toMatchObject(MISMATCH);
    }
    for (const id of [await make(), await make({ allowed_workspaces: ['mine', 'theirs'] })]) {
      expect(refusalOf(await mine.client.patch(`${PATH}/${id}`, { name: 'Mine' }))).toMatchObject(DENIED);
      expect(refusalOf(await mine.client.delete(`${PATH}/${id}`))).toMatchObject(DENIED);
      expect(await read(id)).toMatchObject({ name: BODY.name });
    }
    const entries = await mine.client.list(`/v1/audit-logs?resource=${own}`);
    expect(entries.map(({ action }) => action)).toEqual(['secret_references.update', 'secret_references.create']);
    expect((await mine.client.delete(`${PATH}/${own}`)).status).toBe(204);
  });
});

describe('the audit log', () => {
  it('writes the audit entry in a workspace only when the reference is for that one alone', async () => {
    for (const [allowed, workspaceId] of [
      [['mine'], mine.id],
      [['mine', 'theirs'], null],
    ] as const) {
      const id = await make({ allowed_workspaces: allowed });
      expect(await admin.list(`/v1/audit-logs?resource=${id}`)).toMatchObject([{ workspace_id: workspaceId }]);
      expect(await mine.client.list(`/v1/audit-logs?resource=${id}`)).toHaveLength(workspaceId === null ? 0 : 1);
    }
  });
});

describe('a reference that is in use', () => {
  it('refuses to delete a secret reference in use, and names its users', async () => {
    const id = await make();
    await use(id, 'cohere-prod');
    const answer = await admin.delete(`${PATH}/${id}`);
    expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict' });
    expect(answer.text).toContain('virtual-key cohere-prod');
    for (let number = 0; number < 11; number += 1) await use(id, `user-${number}`);
    const many = await admin.delete(`${PATH}/${id}`);
    expect(many.text.match(/virtual-key /g)).toHaveLength(10);
    expect(many.text).toContain('12 in all');
    await gateway.dataSource.manager.delete(SecretMapping, { secretReferenceId: id });
    expect((await admin.delete(`${PATH}/${id}`)).status).toBe(204);
  });

  it('refuses to take a secret reference from a workspace that uses it', async () => {
    const id = await make({ allowed_workspaces: ['mine', 'theirs'] });
    await use(id, 'of-mine', mine.id);
    for (const fields of [{ allowed_workspaces: ['theirs'] }, { allowed_workspaces: ['default'] }]) {
      const answer = await admin.patch(`${PATH}/${id}`, { name: 'Narrowed', ...fields });
      expect(refusalOf(answer)).toMatchObject({ status: 409, code: 'conflict' });
      expect(answer.text).toContain('virtual-key of-mine');
    }
    expect(await read(id)).toMatchObject({ name: BODY.name, allowed_workspaces: [mine.id, theirs.id].sort() });
    for (const fields of [{ allowed_workspaces: ['mine'] }, { allow_all_workspaces: true }, { name: 'Free' }]) {
      expect((await admin.patch(`${PATH}/${id}`, fields)).status).toBe(200);
    }
  });

  it('keeps a reference for all workspaces while a resource of the whole organisation uses it', async () => {
    const id = await make();
    await use(id, 'of-all');
    for (const fields of [{ allow_all_workspaces: false }, { allowed_workspaces: ['default', 'mine', 'theirs'] }]) {
      expect(refusalOf(await admin.patch(`${PATH}/${id}`, fields))).toMatchObject({ status: 409, code: 'conflict' });
    }
    expect((await admin.patch(`${PATH}/${id}`, { secret_path: 'prod/other' })).status).toBe(200);
  });
});
