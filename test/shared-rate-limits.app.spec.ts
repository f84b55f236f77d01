// Rate limits that several keys share: by user, by workspace, and with the key that made them.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayClient } from './support/gateway-client.js';
import { jsonOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const PER_DAY = { type: 'requests', unit: 'rpd', value: 3 };
const SCOPES = ['api_keys.list', 'api_keys.create', 'api_keys.update', 'api_keys.read'];

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
});

afterAll(() => gateway.close());

/** How many of ten requests are admitted, taken in turns by the clients. */
async function admitted(...clients: readonly GatewayClient[]): Promise<number> {
  let count = 0;
  for (let index = 0; index < 10; index += 1) {
    const answer = await clients[index % clients.length]?.get('/v1/api-keys');
    if (answer?.status === 200) count += 1;
  }
  return count;
}

describe('rate limits per user', () => {
  const keyOf = async (user_id: string): Promise<GatewayClient> => {
    const fields = { type: 'user', user: { user_id }, scopes: SCOPES, rate_limits: [{ ...PER_DAY, per: 'user' }] };
    return (await admin.createKey(fields)).client;
  };

  it('count the requests of all keys of a user together, and those of another user apart', async () => {
    expect(await admitted(await keyOf('ada'), await keyOf('ada'))).toBe(3);
    expect(await admitted(await keyOf('bob'))).toBe(3);
  });

  it('name the user in the refusal', async () => {
    const client = await keyOf('eve');
    await admitted(client);
    const { error } = jsonOf(await client.get('/v1/api-keys'));
    expect(error).toMatchObject({
      code: 'rate_limited',
      message: 'The keys of this user have used the 3 requests (rpd).',
    });
  });

  it('are refused for a key without a user', async () => {
    const body = { name: 'a', level: 'organisation', scopes: SCOPES, rate_limits: [{ ...PER_DAY, per: 'user' }] };
    expect(refusalOf(await admin.post('/v1/api-keys', body))).toMatchObject({
      status: 400,
      param: 'rate_limits.0.per',
    });
    const { id } = await admin.createKey({ scopes: SCOPES });
    const change = { rate_limits: [PER_DAY, { ...PER_DAY, per: 'user' }] };
    expect(refusalOf(await admin.patch(`/v1/api-keys/${id}`, change))).toMatchObject({
      status: 400,
      param: 'rate_limits.1.per',
    });
  });
});

describe('rate limits per workspace', () => {
  const LIMIT = { ...PER_DAY, per: 'workspace' };

  it('count the requests of all keys of a workspace together, beside those of each key', async () => {
    const fields = { level: 'workspace', scopes: SCOPES, rate_limits: [LIMIT, { ...PER_DAY, value: 2 }] };
    const [one, other] = [await admin.createWorkspace('One'), await admin.createWorkspace('Other')];
    const keys = [1, 2].map(async () => (await admin.createKey({ ...fields, workspace_id: one })).client);
    expect(await admitted(...(await Promise.all(keys)))).toBe(3);
    expect(await admitted((await admin.createKey({ ...fields, workspace_id: other })).client)).toBe(2);
  });

  it('are refused for a key of the whole organisation, and for an unknown owner', async () => {
    const body = { name: 'a', level: 'organisation', scopes: SCOPES };
    for (const per of ['workspace', 'team', null]) {
      const answer = await admin.post('/v1/api-keys', { ...body, rate_limits: [{ ...PER_DAY, per }] });
      expect(refusalOf(answer)).toMatchObject({ status: 400, param: 'rate_limits.0.per' });
    }
  });

  it('are shown as they were set', async () => {
    const workspace_id = await admin.createWorkspace('Shown');
    const rate_limits = [LIMIT, PER_DAY];
    const { id, client } = await admin.createKey({ level: 'workspace', workspace_id, scopes: SCOPES, rate_limits });
    expect(jsonOf(await client.get(`/v1/api-keys/${id}`))).toMatchObject({ rate_limits });
  });
});

describe('keys that are made by a key with a rate limit', () => {
  it('share the counter of their maker, and so do their own keys', async () => {
    const maker = await admin.createKey({ scopes: SCOPES, rate_limits: [{ ...PER_DAY, value: 5 }] });
    const child = await maker.client.createKey({ scopes: SCOPES, rate_limits: [{ ...PER_DAY, value: 5 }] });
    const grandchild = await child.client.createKey({ scopes: SCOPES, rate_limits: [{ ...PER_DAY, value: 5 }] });
    // Two of five are used up by the creates.
    expect(await admitted(child.client, grandchild.client, maker.client)).toBe(3);
  });

  it('go on sharing it when their limits change', async () => {
    const maker = await admin.createKey({ scopes: SCOPES, rate_limits: [PER_DAY] });
    const child = await maker.client.createKey({ scopes: SCOPES, rate_limits: [{ ...PER_DAY, value: 1 }] });
    expect((await admin.patch(`/v1/api-keys/${child.id}`, { rate_limits: [PER_DAY] })).status).toBe(200);
    expect(await admitted(child.client, maker.client)).toBe(2);
  });

  it('must have a limit of the same kind', async () => {
    const workspace_id = await admin.createWorkspace('Kinds');
    const rate_limits = [{ ...PER_DAY, per: 'workspace' }];
    const maker = await admin.createKey({ level: 'workspace', workspace_id, scopes: SCOPES, rate_limits });
    const body = { name: 'a', level: 'workspace', scopes: SCOPES, rate_limits: [PER_DAY] };
    expect(refusalOf(await maker.client.post('/v1/api-keys', body))).toMatchObject({
      status: 403,
      param: 'rate_limits',
    });
  });

  it('never show the counter', async () => {
    const maker = await admin.createKey({ scopes: SCOPES, rate_limits: [{ ...PER_DAY, value: 100 }] });
    const limits = [{ ...PER_DAY, value: 50 }];
    const child = await maker.client.createKey({ scopes: SCOPES, rate_limits: limits });
    expect(jsonOf(await admin.get(`/v1/api-keys/${child.id}`))['rate_limits']).toEqual(limits);
    expect(jsonOf(await child.client.get('/v1/me'))['rate_limits']).toEqual(limits);
  });
});
