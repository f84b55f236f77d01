import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getMetadataStorage } from 'class-validator';
import { UpdateApiKeyDto } from '../src/api-keys/dto/api-key.dto.js';
import { type JsonObject, readString } from '../src/common/json/read.js';
import { UpdateMcpServerDto } from '../src/mcp/servers/dto/mcp-server.dto.js';
import { UpdateModelRouteDto } from '../src/model-routes/dto/model-route.dto.js';
import { UpdateUsageLimitDto } from '../src/policies/dto/usage-limit.dto.js';
import { UpdateSecretReferenceDto } from '../src/secret-references/dto/secret-reference.dto.js';
import { UpdateVirtualKeyDto } from '../src/virtual-keys/dto/virtual-key.dto.js';
import { UpdateWebhookEndpointDto } from '../src/webhooks/dto/webhook-endpoint.dto.js';
import { UpdateWorkspaceDto } from '../src/workspaces/dto/workspace.dto.js';
import { GatewayClient } from './support/gateway-client.js';
import { brokenRulesOf, jsonOf } from './support/send.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const SECRET = 'provider-secret-0123456789';
const AWS = { aws_auth_type: 'accessKey', aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE', aws_region: 'eu-central-1' };
const CLOUD_A = {
  manager_type: 'aws_sm',
  secret_path: 'prod/cohere',
  auth_config: { ...AWS, aws_secret_access_key: 'aws-secret-0123456789' },
};

/** What the gateway writes itself: an update may have it, with any value. */
const REPORTED = new Set([
  'last_call',
  'last_error',
  'last_resolved_at',
  'last_used_at',
  'mcp_url',
  'next_reset_at',
  'prefix',
  'updated_at',
]);

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
  await admin.create('/v1/virtual-keys', { name: 'Local', slug: 'models', provider: 'local' });
  await admin.create('/v1/secret-references', { name: 'Cohere', slug: 'cohere', ...CLOUD_A });
});

afterAll(async () => {
  await gateway.close();
});

/** The resource as it was read, without the fields that an update refuses. */
function writablePartOf(resource: JsonObject, dto: new () => object): JsonObject {
  const rules = getMetadataStorage().getTargetValidationMetadatas(dto, '', false, false);
  const names = new Set(rules.map((rule) => rule.propertyName));
  return Object.fromEntries(Object.entries(resource).filter(([name]) => names.has(name)));
}

async function lastUpdateOf(table: string, id: string): Promise<unknown> {
  const [row] = await gateway.dataSource.query(`SELECT updated_at::text FROM "${table}" WHERE id = $1`, [id]);
  return row;
}

describe('updates with a resource as it was read', () => {
  it.each<[string, string, new () => object, string, object]>([
    [
      'a workspace',
      '/v1/workspaces',
      UpdateWorkspaceDto,
      'workspaces',
      { name: 'A', defaults: { metadata: { team: 'a' } } },
    ],
    [
      'an API key',
      '/v1/api-keys',
      UpdateApiKeyDto,
      'api_keys',
      { name: 'A', scopes: ['usage.read'], level: 'organisation', workspace_id: null, user: null },
    ],
    [
      'an API key with everything',
      '/v1/api-keys',
      UpdateApiKeyDto,
      'api_keys',
      {
        name: 'A',
        scopes: ['usage.read'],
        workspace_id: 'default',
        type: 'user',
        user: { user_id: 'u', claims: { a: [1] } },
        metadata: { team: 'a' },
        expires_at: 4_000_000_000,
        rate_limits: [{ type: 'requests', unit: 'rpm', value: 5 }],
        allowed_mcp_servers: ['issues'],
        allowed_mcp_tools: ['issues/get_*'],
      },
    ],
    [
      'a virtual key',
      '/v1/virtual-keys',
      UpdateVirtualKeyDto,
      'virtual_keys',
      { name: 'A', provider: 'cohere', key: SECRET },
    ],
    [
      'a virtual key without a key',
      '/v1/virtual-keys',
      UpdateVirtualKeyDto,
      'virtual_keys',
      { name: 'A', provider: 'local', key: null },
    ],
    [
      'a virtual key with sealed options',
      '/v1/virtual-keys',
      UpdateVirtualKeyDto,
      'virtual_keys',
      { name: 'A', provider: 'bedrock', config: { ...AWS, aws_secret_access_key: SECRET, base_url: null } },
    ],
    [
      'a virtual key with mappings',
      '/v1/virtual-keys',
      UpdateVirtualKeyDto,
      'virtual_keys',
      { name: 'A', provider: 'cohere', secret_mappings: [{ target_field: 'key', secret_reference_id: 'cohere' }] },
    ],
    [
      'a secret reference',
      '/v1/secret-references',
      UpdateSecretReferenceDto,
      'secret_references',
      { name: 'A', ...CLOUD_A },
    ],
    [
      'a secret reference without workspaces',
      '/v1/secret-references',
      UpdateSecretReferenceDto,
      'secret_references',
      { name: 'A', ...CLOUD_A, allow_all_workspaces: false },
    ],
    [
      'a secret reference for some workspaces',
      '/v1/secret-references',
      UpdateSecretReferenceDto,
      'secret_references',
      { name: 'A', ...CLOUD_A, allowed_workspaces: ['default'], tags: { a: { b: [null] } } },
    ],
    [
      'a usage limit',
      '/v1/policies/usage-limits',
      UpdateUsageLimitDto,
      'usage_policies',
      {
        name: 'A',
        conditions: [
          { key: 'workspace_id', value: ['default'] },
          { key: 'virtual_key', value: '*', excludes: 'x*' },
        ],
        group_by: [{ key: 'api_key' }],
        type: 'cost',
        credit_limit: 1.5,
        alert_threshold: 0.000_000_001,
        workspace_id: null,
      },
    ],
    [
      'a webhook',
      '/v1/webhooks',
      UpdateWebhookEndpointDto,
      'webhook_endpoints',
      { url: 'https://hooks.example.com/a', events: ['*'], enabled: false, workspace_id: null },
    ],
    [
      'a model route',
      '/v1/model-routes',
      UpdateModelRouteDto,
      'model_routes',
      { name: 'a/b', targets: [{ virtual_key: 'models', model: 'bm25' }] },
    ],
    [
      'an MCP server',
      '/v1/mcp-servers',
      UpdateMcpServerDto,
      'mcp_servers',
      {
        name: 'A',
        url: 'https://mcp.example.com/mcp',
        headers: { 'X-Api-Key': SECRET },
        jwt_validation: {
          jwksUri: 'https://login.example.com/jwks',
          requiredClaims: ['sub'],
          introspection: {
            endpoint: 'https://login.example.com/introspect',
            client_id: 'tollgate',
            client_secret: SECRET,
          },
        },
        user_identity_forwarding: { method: 'claims_header', include_claims: ['sub'] },
        forward_headers: { mode: 'allowlist', headers: ['x-tenant'] },
        allowed_origins: ['https://app.example.com'],
        timeouts: { first_byte_ms: 1_000 },
      },
    ],
    [
      'an MCP server with mappings',
      '/v1/mcp-servers',
      UpdateMcpServerDto,
      'mcp_servers',
      {
        name: 'A',
        url: 'https://mcp.example.com/mcp',
        auth_type: 'headers',
        secret_mappings: ['headers.authorization', 'headers.X-Api-Key', 'headers.api-key'].map((target_field) => ({
          target_field,
          secret_reference_id: 'cohere',
          secret_key: 'key',
        })),
      },
    ],
  ])(
    'changes nothing and audits nothing when %s at %s is written back as it was read',
    async (_what, path, dto, table, fields) => {
      const id = readString((await admin.create(path, fields))['id'], 'id');
      const resource = await admin.read(`${path}/${id}`);
      const body = writablePartOf(resource, dto);
      expect(Object.keys(body).length).toBeGreaterThan(1);
      const before = await lastUpdateOf(table, id);
      for (const update of [resource, body, {}]) {
        const answer = await admin.put(`${path}/${id}`, update);
        expect([answer.status, jsonOf(answer)]).toEqual([200, resource]);
      }
      expect(await lastUpdateOf(table, id)).toEqual(before);
      expect(await admin.list(`/v1/audit-logs?resource=${id}`)).toHaveLength(1);
      const fixed = Object.keys(resource).filter((name) => !(name in body) && !REPORTED.has(name));
      const other = Object.fromEntries(fixed.map((name) => [name, 'another']));
      expect(brokenRulesOf(await admin.put(`${path}/${id}`, { ...resource, ...other }))).toEqual(new Set(fixed));
      const change = 'name' in body ? { name: 'Another' } : { description: 'another' };
      expect(jsonOf(await admin.put(`${path}/${id}`, { ...body, ...change }))).toMatchObject(change);
      expect(await lastUpdateOf(table, id)).not.toEqual(before);
      expect(await admin.list(`/v1/audit-logs?resource=${id}`)).toHaveLength(2);
    },
  );
});

it.each([
  ['/v1/virtual-keys', { name: 'A', provider: 'local', workspace_id: 'default' }],
  ['/v1/api-keys', { name: 'A', scopes: ['usage.read'], workspace_id: 'default', level: 'workspace' }],
  ['/v1/secret-references', { name: 'A', ...CLOUD_A, manager_type: 'cloudA_sm' }],
  ['/v1/model-routes', { name: 'A', targets: [{ virtual_key: 'models', model: 'm' }], workspace_id: 'default' }],
])('takes the body of a create as an update at %s, with names instead of ids', async (path, fields) => {
  const id = readString((await admin.create(path, fields))['id'], 'id');
  const otherName = 'manager_type' in fields ? { manager_type: 'aws_sm' } : {};
  expect((await admin.put(`${path}/${id}`, { ...fields, ...otherName })).status).toBe(200);
});

it('changes and audits a virtual key when only a mapping differs', async () => {
  const mapping = { target_field: 'key', secret_reference_id: 'cohere' };
  const fields = { name: 'A', provider: 'cohere', secret_mappings: [mapping] };
  const id = readString((await admin.create('/v1/virtual-keys', fields))['id'], 'id');
  const before = await lastUpdateOf('virtual_keys', id);
  const secret_mappings = [{ ...mapping, secret_key: 'other' }];
  expect(jsonOf(await admin.patch(`/v1/virtual-keys/${id}`, { secret_mappings }))).toMatchObject({
    secret_mappings: [{ secret_key: 'other' }],
  });
  expect(await lastUpdateOf('virtual_keys', id)).not.toEqual(before);
  expect(await admin.list(`/v1/audit-logs?resource=${id}`)).toHaveLength(2);
});
