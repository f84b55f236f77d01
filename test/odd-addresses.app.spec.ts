// Addresses that parsers, validators and browsers read differently, in every field that takes an address.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { GatewayClient } from './support/gateway-client.js';
import { startTestApp, type TestApp } from './support/test-app.js';

const ADDRESSES = [
  'https://[0000::1%25lo]',
  'https://[fe80::1%25eth0]:443/',
  'https://[fe80::1%eth0]/',
  'https://[0000::1%25lo].example.com',
  'http://[::1',
  'https://::1/',
  'https://[::ffff:127.0.0.1]/',
  'https://[1:2:3]/',
  'https://exa mple',
  'https://exa\tmple.com',
  'https://a:99999',
  'https://a:-1',
  'https://a:0',
  'https://a:b',
  'https://',
  'https:///',
  'https:/a',
  'https:a',
  '//a.example.com',
  '/a',
  '',
  ' ',
  'https://a..example.com',
  'https://.example.com',
  'https://example.com.',
  'https://-a.example.com',
  'https://a_b.example.com',
  'https://a%2eexample.com',
  'https://a%00.example.com',
  'https://%',
  'https://a|b.example.com',
  'https://a^b.example.com',
  'https://a<b>.example.com',
  'https://user:password@example.com',
  'https://@example.com',
  'https://example.com\\@evil.example',
  'https://example.com#fragment',
  'https://example.com?x=%zz',
  'https://xn--.example.com',
  'https://xn--a',
  'https://ex\u00admple.com',
  'https://\u{1f600}.example.com',
  'https://EXAMPLE.com',
  'https://999.999.999.999',
  'https://1.2.3.4.5',
  'https://0x7f.1',
  'https://2130706433',
  'https://256',
  'ftp://example.com',
  'javascript:alert(1)',
  'data:,x',
  'file:///etc/passwd',
  'blob:https://example.com/x',
  'https://example.com:443:443',
  `https://${'a'.repeat(64)}.example.com`,
  `https://${'a.'.repeat(200)}example.com`,
  `https://example.com/${'a'.repeat(3_000)}`,
  'https://example.com/\0',
  'https://example.com/\ud800',
  'https://example.com/?a=\udc00',
] as const;

const MCP = { name: 'A', url: 'https://mcp.example.com/mcp' };
const JWKS = { jwksUri: 'https://login.example.com/keys' };

/** Every field that takes an address, in an otherwise valid body. */
const FIELDS: readonly (readonly [field: string, path: string, body: (url: string) => object])[] = [
  ['url of a webhook', '/v1/webhooks', (url) => ({ url, events: ['*'] })],
  ['url of an MCP server', '/v1/mcp-servers', (url) => ({ ...MCP, url })],
  ['jwksUri', '/v1/mcp-servers', (url) => ({ ...MCP, jwt_validation: { jwksUri: url } })],
  ['jwks_uri', '/v1/mcp-servers', (url) => ({ ...MCP, jwt_validation: { jwks_uri: url } })],
  [
    'issuer',
    '/v1/mcp-servers',
    (url) => ({ ...MCP, jwt_validation: { ...JWKS, issuer: url, advertise_issuer: true } }),
  ],
  [
    'introspection.endpoint',
    '/v1/mcp-servers',
    (url) => ({
      ...MCP,
      jwt_validation: { ...JWKS, introspection: { endpoint: url, client_id: 'a', client_secret: 'b' } },
    }),
  ],
  ['allowed_origins', '/v1/mcp-servers', (url) => ({ ...MCP, allowed_origins: [url] })],
  ...['cohere', 'openai', 'openai-compatible', 'pinecone', 'azure-ai', 'azure-openai'].map(
    (provider) =>
      [
        `base_url of ${provider}`,
        '/v1/virtual-keys',
        (url: string) => ({ name: 'A', provider, key: 'k', config: { base_url: url } }),
      ] as const,
  ),
  [
    'vault_addr',
    '/v1/secret-references',
    (url) => ({
      name: 'A',
      manager_type: 'hashicorp_vault',
      secret_path: 'secret/a',
      auth_config: { vault_auth_type: 'token', vault_addr: url, vault_token: 't' },
    }),
  ],
  [
    'azure_vault_url',
    '/v1/secret-references',
    (url) => ({
      name: 'A',
      manager_type: 'azure_kv',
      secret_path: 'a',
      auth_config: {
        azure_auth_mode: 'entra',
        azure_vault_url: url,
        azure_entra_tenant_id: 'example.com',
        azure_entra_client_id: '3f2b7c1e-0000-4000-8000-000000000000',
        azure_entra_client_secret: 'c',
      },
    }),
  ],
  [
    'allowed_hosts',
    '/v1/secret-references',
    (url) => ({
      name: 'A',
      manager_type: 'aws_sm',
      secret_path: 'a',
      allowed_hosts: [url],
      auth_config: {
        aws_auth_type: 'accessKey',
        aws_access_key_id: 'AKIAIOSFODNN7EXAMPLE',
        aws_secret_access_key: 's',
        aws_region: 'eu-central-1',
      },
    }),
  ],
];

let gateway: TestApp;
let admin: GatewayClient;

beforeAll(async () => {
  gateway = await startTestApp();
  admin = new GatewayClient(gateway.url);
});

afterAll(() => gateway.close());

describe('an odd address', () => {
  it.each(FIELDS)('is refused or stored, but never a defect, as the %s', async (field, path, body) => {
    const good = field === 'allowed_hosts' ? 'api.example.com' : 'https://vault.vault.azure.net';
    expect((await admin.post(path, body(good))).status).toBe(201);
    const statuses = new Map<string, number>();
    for (const address of ADDRESSES) statuses.set(address, (await admin.post(path, body(address))).status);
    const others = [...statuses].filter(([, status]) => status !== 400 && status !== 201);
    expect(others).toEqual([]);
    // The first ones no parser accepts.
    expect([...statuses.values()].slice(0, 3)).toEqual([400, 400, 400]);
  });
});
