import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayClient } from './support/gateway-client.js';
import { refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const CSV = { accept: 'text/csv' };

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  await admin.create('/v1/workspaces', { name: '=HYPERLINK("http://evil.example")', slug: 'evil' });
});
afterAll(() => gateway.close());

describe('a list as CSV', () => {
  it('is one page with its filters, the number of all rows, and formulas as text', async () => {
    const answer = await admin.get('/v1/workspaces?page_size=1&sort=-created_at', CSV);
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="workspaces.csv"',
      'x-total-count': '2',
    });
    const [head = '', row = '', ...rest] = answer.text.split('\r\n');
    expect(head.split(',').slice(0, 3)).toEqual(['id', 'slug', 'object']);
    expect(row).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
    expect(rest).toEqual(['']);
  });

  it.each([
    'api-keys',
    'virtual-keys',
    'policies/usage-limits',
    'usage',
    'logs',
    'audit-logs',
    'mcp-servers',
    'model-catalogue',
    'members',
  ])('is there for /v1/%s, and JSON for callers that accept both', async (list) => {
    const answer = await admin.get(`/v1/${list}`, CSV);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    const both = await admin.get(`/v1/${list}`, { accept: 'application/json, text/csv' });
    expect(both.headers['content-type']).toContain('application/json');
    const any = await admin.get(`/v1/${list}`, { accept: '*/*' });
    expect(any.headers['content-type']).toContain('application/json');
  });

  it('is not there for one resource, and refusals stay JSON', async () => {
    const one = await admin.get('/v1/workspaces/evil', CSV);
    expect(one.headers['content-type']).toContain('application/json');
    const { client } = await admin.createKey({ scopes: ['usage.read'] });
    expect(refusalOf(await client.get('/v1/api-keys', CSV))).toMatchObject({ status: 403, code: 'permission_denied' });
  });
});
