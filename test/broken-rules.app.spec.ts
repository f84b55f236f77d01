import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, refusalOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const METADATA_ADDRESS = 'https://169.254.169.254/latest';

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
});

afterAll(async () => {
  await gateway.close();
});

async function brokenIn(path: string, body: object): Promise<ReadonlySet<unknown>> {
  const answer = await admin.post(path, body);
  expect(refusalOf(answer)).toMatchObject({ status: 400, code: 'validation_failed' });
  return brokenRulesOf(answer);
}

describe('answers that name every broken rule of a body', () => {
  it.each<[string, string, object, readonly string[]]>([
    [
      'an API key',
      '/v1/api-keys',
      { name: '', scopes: ['usage.read'], type: 'user', level: 'organisation', workspace_id: 'default', expires_at: 1 },
      ['name', 'user', 'workspace_id', 'expires_at'],
    ],
    ['a workspace', '/v1/workspaces', { name: 5, slug: 'docs' }, ['name', 'slug']],
    [
      'a virtual key',
      '/v1/virtual-keys',
      {
        name: 5,
        provider: 'cohere',
        key: 'provider-secret',
        config: { nope: 1, timeout_ms: 'soon' },
        expires_at: 1,
      },
      ['name', 'config.nope', 'config.timeout_ms', 'expires_at'],
    ],
    [
      'a virtual key without a key and with two broken options',
      '/v1/virtual-keys',
      { name: 'A', provider: 'cohere', config: { nope: 1, base_url: METADATA_ADDRESS } },
      ['key', 'config.nope', 'config.base_url'],
    ],
    [
      'a virtual key with an address that is refused',
      '/v1/virtual-keys',
      { name: 5, provider: 'cohere', key: 'provider-secret', config: { base_url: METADATA_ADDRESS } },
      ['name', 'config.base_url'],
    ],
    [
      'a virtual key with a mapping to no field',
      '/v1/virtual-keys',
      {
        name: 5,
        provider: 'cohere',
        config: { timeout_ms: 'soon' },
        secret_mappings: [{ target_field: 'config.nope', secret_reference_id: 'some' }],
      },
      ['name', 'key', 'config.timeout_ms', 'secret_mappings.0.target_field'],
    ],
    [
      'a secret reference',
      '/v1/secret-references',
      { name: 5, manager_type: 'aws_sm', secret_path: 'a', auth_config: { aws_auth_type: 'accessKey', nope: 'x' } },
      [
        'name',
        'auth_config.nope',
        'auth_config.aws_access_key_id',
        'auth_config.aws_secret_access_key',
        'auth_config.aws_region',
      ],
    ],
    [
      'a usage limit',
      '/v1/policies/usage-limits',
      {
        name: 5,
        conditions: [{ key: 'nope', value: '*' }],
        group_by: [{ key: 'api_key' }, { key: 'api_key' }],
        type: 'tokens',
        credit_limit: 1.5,
        alert_threshold: 2,
      },
      ['name', 'conditions.0.key', 'group_by.1.key', 'credit_limit', 'alert_threshold'],
    ],
    [
      'a model route',
      '/v1/model-routes',
      { name: '@a', targets: [{ virtual_key: 5, model: '', weight: 0, share: 1 }], affinity: 'session' },
      ['name', 'targets.0.virtual_key', 'targets.0.model', 'targets.0.weight', 'targets.0.share', 'affinity'],
    ],
    ['a webhook', '/v1/webhooks', { url: METADATA_ADDRESS, events: ['nope'] }, ['url', 'events']],
    [
      'an MCP server',
      '/v1/mcp-servers',
      {
        name: 5,
        slug: 'metrics',
        url: METADATA_ADDRESS,
        auth_type: 'headers',
        allowed_origins: ['nowhere'],
        user_identity_forwarding: { method: 'bearer' },
        timeouts: { nope: 1 },
      },
      ['name', 'slug', 'url', 'headers', 'allowed_origins.0', 'user_identity_forwarding.method', 'timeouts.nope'],
    ],
  ])('reports every broken rule of %s', async (_what, path, body, params) => {
    expect(await brokenIn(path, body)).toEqual(new Set(params));
  });

  it('reports every broken rule of an MCP server with an invalid mapping', async () => {
    const body = {
      name: 'A',
      url: 'https://mcp.example.com/mcp',
      headers: { 'bad name': 'x' },
      secret_mappings: [{ target_field: 'nope', secret_reference_id: 'some' }],
    };
    const params = ['headers.bad name', 'secret_mappings.0.target_field'];
    expect(await brokenIn('/v1/mcp-servers', body)).toEqual(new Set(params));
  });

  it('reports an unknown field whose name contains a dot', async () => {
    const body = { name: 'A', provider: 'cohere', 'provider.x': 1 };
    expect(await brokenIn('/v1/virtual-keys', body)).toEqual(new Set(['provider.x', 'key']));
  });

  it('leaves out rules that only seem broken because of an invalid field', async () => {
    const fields = { name: 'A', url: 'https://mcp.example.com/mcp', user_identity_forwarding: { method: 'bearer' } };
    expect(await brokenIn('/v1/mcp-servers', { ...fields, jwt_validation: { nope: 1 } })).toEqual(
      new Set(['jwt_validation.nope']),
    );
  });

  it('reports every broken rule of a webhook update', async () => {
    const { id } = await admin.create('/v1/webhooks', { url: 'https://example.com/hooks', events: ['*'] });
    const answer = await admin.patch(`/v1/webhooks/${String(id)}`, { url: METADATA_ADDRESS, description: 5 });
    expect(brokenRulesOf(answer)).toEqual(new Set(['description', 'url']));
  });
});
