import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type JsonObject, readString } from '../src/common/json/read.js';
import { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, jsonOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const LIMIT = {
  conditions: [{ key: 'model', value: '*' }],
  group_by: [{ key: 'api_key' }],
  type: 'cost',
  credit_limit: 5,
};
const LIMITS = '/v1/policies/usage-limits';

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
});
afterAll(() => gateway.close());

const idOf = (created: JsonObject): string => readString(created['id'], 'id');

describe('note', () => {
  it('is the description of a virtual key, in creates and updates', async () => {
    const at = `/v1/virtual-keys/${idOf(await admin.create('/v1/virtual-keys', { name: 'A', provider: 'local', note: 'N' }))}`;
    expect((await admin.read(at))['description']).toBe('N');
    expect(jsonOf(await admin.put(at, { note: 'M' }))['description']).toBe('M');
    expect(jsonOf(await admin.patch(at, { note: null }))['description']).toBeNull();
  });

  it('is refused beside another description, and in the form of one', async () => {
    const body = { name: 'A', provider: 'local' };
    const both = await admin.post('/v1/virtual-keys', { ...body, note: 'N', description: 'D' });
    expect(refusalOf(both)).toMatchObject({ status: 400, param: 'note' });
    expect((await admin.post('/v1/virtual-keys', { ...body, note: 1 })).status).toBe(400);
    expect((await admin.post('/v1/workspaces', { name: 'A', note: 'N' })).status).toBe(400);
  });
});

describe('POST /v1/api-keys/{level}/{type}', () => {
  const body = { name: 'A', scopes: ['usage.read'] };

  it.each([
    ['workspace/service', { workspace_id: 'default' }, { level: 'workspace', type: 'service', user: null }],
    ['workspace/user', { workspace_id: 'default', user_id: 'u' }, { level: 'workspace', user: { user_id: 'u' } }],
    ['organisation/service', { defaults: { metadata: { a: 'b' } } }, { level: 'organisation', metadata: { a: 'b' } }],
    ['organisation/user', { user: { user_id: 'u' }, level: 'organisation' }, { type: 'user', user: { user_id: 'u' } }],
    // Its SDK sends the address in the body as well.
    [
      'workspace/user',
      { type: 'workspace', 'sub-type': 'user', workspace_id: 'default', user_id: 'u' },
      { level: 'workspace', type: 'user' },
    ],
    [
      'organisation/service',
      { type: 'organisation', 'sub-type': 'service' },
      { level: 'organisation', type: 'service' },
    ],
  ])('creates a key of %s', async (place, fields, expected) => {
    const created = await admin.create(`/v1/api-keys/${place}`, { ...body, ...fields });
    expect(created).toMatchObject({ object: 'api-key', key: expect.stringMatching(/^tg_/) });
    expect(await admin.read(`/v1/api-keys/${idOf(created)}`)).toMatchObject(expected);
  });

  it.each([
    ['workspace/service', { level: 'organisation' }, ['level']],
    ['organisation/service', { type: 'workspace' }, ['type']],
    ['organisation/service', { type: 'organisation', 'sub-type': 'user' }, ['sub-type']],
    ['workspace/user', {}, ['user']],
    ['organisation/service', { workspace_id: 'default', user_id: 'u' }, ['user', 'workspace_id']],
    ['organisation/user', { user_id: 'u', user: { user_id: 'v' } }, ['user_id']],
    ['organisation/service', { metadata: {}, defaults: { metadata: {} } }, ['defaults.metadata']],
    ['organisation/service', { expires_at: 1 }, ['expires_at']],
    ['organisation/service', { config_id: 'c' }, ['config_id']],
  ])('refuses a body that contradicts %s', async (place, fields, params) => {
    const answer = await admin.post(`/v1/api-keys/${place}`, { ...body, ...fields });
    expect([answer.status, brokenRulesOf(answer)]).toEqual([400, new Set(params)]);
  });

  it('grants no more than the caller has, and knows no other place', async () => {
    const { client } = await admin.createKey({ scopes: ['api_keys.create'] });
    expect((await client.post('/v1/api-keys/organisation/service', body)).status).toBe(403);
    expect((await admin.post('/v1/api-keys/team/service', body)).status).toBe(404);
  });
});

describe('periodic_reset_days', () => {
  it('resets a usage limit after so many days, and can be written back', async () => {
    const at = `${LIMITS}/${idOf(await admin.create(LIMITS, { ...LIMIT, periodic_reset_days: 10 }))}`;
    const read = await admin.read(at);
    expect(read).toMatchObject({ periodic_reset: null, periodic_reset_days: 10 });
    const midnight = new Date(gateway.clock.now()).setUTCHours(0, 0, 0, 0) / 1_000;
    expect(read['next_reset_at']).toBe(midnight + 10 * 86_400);
    expect(jsonOf(await admin.put(at, read))).toEqual(read);
    expect(jsonOf(await admin.patch(at, { periodic_reset: null }))).toEqual(read);
    const weekly = jsonOf(await admin.patch(at, { periodic_reset: 'weekly' }));
    expect(weekly).toMatchObject({ periodic_reset: 'weekly', periodic_reset_days: null });
    expect(jsonOf(await admin.patch(at, { periodic_reset_days: 365 }))).toMatchObject({ periodic_reset_days: 365 });
    const ended = jsonOf(await admin.patch(at, { periodic_reset_days: null }));
    expect(ended).toMatchObject({ periodic_reset: null, periodic_reset_days: null, next_reset_at: null });
  });

  it.each([
    [{ periodic_reset_days: 10, periodic_reset: 'monthly' }],
    [{ periodic_reset_days: 0 }],
    [{ periodic_reset_days: 366 }],
    [{ periodic_reset_days: 1.5 }],
  ])('refuses %j in creates and updates', async (fields) => {
    const wrong = { status: 400, code: 'validation_failed', param: 'periodic_reset_days' };
    expect(refusalOf(await admin.post(LIMITS, { ...LIMIT, ...fields }))).toMatchObject(wrong);
    const id = idOf(await admin.create(LIMITS, LIMIT));
    expect(refusalOf(await admin.patch(`${LIMITS}/${id}`, fields))).toMatchObject(wrong);
  });

  it('counts calls in the period of days', async () => {
    const id = idOf(await admin.create(LIMITS, { ...LIMIT, type: 'tokens', periodic_reset_days: 3 }));
    const at = `${LIMITS}/${id}`;
    const simulated = jsonOf(await admin.post(`${LIMITS}/simulate`, { model: 'm', estimate: { tokens: 1 } }));
    const { next_reset_at } = await admin.read(at);
    const expected = expect.objectContaining({ policy_id: id, next_reset_at, decision: 'admitted' });
    expect(simulated['policies']).toEqual(expect.arrayContaining([expected]));
    expect((await admin.delete(at)).status).toBe(204);
  });
});

it('resets the usage of one group by its value key, and refuses a key without usage', async () => {
  const at = `${LIMITS}/${idOf(await admin.create(LIMITS, { ...LIMIT, type: 'tokens', credit_limit: 100 }))}`;
  const { id: policyId, organisation_id: organisation } = await admin.read(at);
  await gateway.dataSource.query(
    `INSERT INTO usage_buckets (policy_id, bucket_hash, window_id, id, ordinal, organisation_id, value_key, unit, used, credit_limit)
     VALUES ($1, 'hash', 'cum', gen_random_uuid(), 1, $2, 'api_key:alice', 'tokens', 70, 100)`,
    [policyId, organisation],
  );
  const refused = await admin.put(at, { reset_usage_for_value: 'api_key:bob' });
  expect(refusalOf(refused)).toMatchObject({ status: 400, param: 'reset_usage_for_value' });
  expect(await admin.list(`${at}/entities`)).toMatchObject([{ value_key: 'api_key:alice', current_usage: 70 }]);
  expect((await admin.put(at, { reset_usage_for_value: 'api_key:alice' })).status).toBe(200);
  expect(await admin.list(`${at}/entities`)).toMatchObject([{ value_key: 'api_key:alice', current_usage: 0 }]);
});
