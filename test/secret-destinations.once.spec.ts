// Where the value of a secret reference may be sent: checked when it is mapped, and when it is sent.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { SecretGateway } from './support/secret-gateway.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { ADMIN_KEY } from './support/test-app.js';

const VALUE = 'value-of-the-vault-0123456789';
const REFUSED = { status: 400, code: 'validation_failed', param: 'secret_mappings.0.secret_reference_id' };
const INTROSPECTION = { endpoint: 'https://idp.example.com/introspect', client_id: 'gateway' };

let gateway: SecretGateway;
let server: RawMcpServer;

beforeAll(async () => {
  [gateway, server] = await Promise.all([SecretGateway.start(), startRawMcpServer()]);
  gateway.kv.put('value', { token: VALUE });
  gateway.kv.put('address', { url: gateway.provider.url });
});

beforeEach(() => {
  gateway.accept([VALUE]);
  server.answerWith(json({ jsonrpc: '2.0', id: 1, result: {} }));
  server.forget();
});

afterAll(async () => {
  await gateway.close();
  await server.close();
});

const referenceTo = (lists: object): Promise<string> =>
  gateway.reference('value', { slug: `r-${randomUUID()}`, ...lists });

function virtualKey(id: string, fields: object = {}): Promise<Answer> {
  const secret_mappings = [{ target_field: 'key', secret_reference_id: id }];
  return gateway.admin.post('/v1/virtual-keys', { name: 'v', provider: 'cohere', secret_mappings, ...fields });
}

function mcpServer(id: string, target_field = 'headers.Authorization', fields: object = {}): Promise<Answer> {
  const secret_mappings = [{ target_field, secret_reference_id: id }];
  const body = { name: 's', slug: `s-${randomUUID()}`, url: server.endpoint.href, secret_mappings, ...fields };
  return gateway.admin.post('/v1/mcp-servers', body);
}

const here = (): string => new URL(gateway.provider.url).host;
const base_url = (): object => ({ config: { base_url: gateway.provider.url } });

describe('mapping a secret reference', () => {
  it('is allowed for the hosts of allowed_hosts only', async () => {
    const cohere = await referenceTo({ allowed_hosts: ['api.cohere.com'] });
    expect((await virtualKey(cohere)).status).toBe(201);
    expect(refusalOf(await virtualKey(cohere, base_url()))).toMatchObject(REFUSED);
    expect(refusalOf(await virtualKey(cohere, { provider: 'jina' }))).toMatchObject(REFUSED);
    expect(refusalOf(await mcpServer(cohere))).toMatchObject(REFUSED);
    const both = await referenceTo({ allowed_hosts: [here(), server.endpoint.host] });
    expect((await virtualKey(both, base_url())).status).toBe(201);
    expect((await mcpServer(both)).status).toBe(201);
  });

  it('is allowed for the own addresses of allowed_providers only', async () => {
    const id = await referenceTo({ allowed_providers: ['cohere'] });
    expect((await virtualKey(id)).status).toBe(201);
    const address = await gateway.reference('address', { slug: `a-${randomUUID()}` });
    const mappedAddress = [
      { target_field: 'key', secret_reference_id: id },
      { target_field: 'config.base_url', secret_reference_id: address },
    ];
    for (const answer of [
      await virtualKey(id, base_url()),
      await virtualKey(id, { secret_mappings: mappedAddress }),
      await virtualKey(id, { provider: 'voyage' }),
      await virtualKey(id, { provider: 'openai-compatible', ...base_url() }),
      await mcpServer(id),
    ]) {
      expect(refusalOf(answer)).toMatchObject(REFUSED);
    }
    const proxied = await referenceTo({ allowed_providers: ['cohere'], allowed_hosts: [here()] });
    expect((await virtualKey(proxied, base_url())).status).toBe(201);
    expect(refusalOf(await virtualKey(proxied))).toMatchObject(REFUSED);
  });

  it('compares the secret of an identity provider with the address of its introspection', async () => {
    const field = 'jwt_validation.introspection.client_secret';
    const fields = { jwt_validation: { introspection: INTROSPECTION } };
    const own = await referenceTo({ allowed_hosts: ['idp.example.com'] });
    expect((await mcpServer(own, field, fields)).status).toBe(201);
    const other = await referenceTo({ allowed_hosts: [server.endpoint.host] });
    expect(refusalOf(await mcpServer(other, field, fields))).toMatchObject(REFUSED);
  });

  it('is checked again when an update moves the address', async () => {
    const id = await referenceTo({ allowed_hosts: [here()] });
    const slug = String(jsonOf(await virtualKey(id, base_url()))['slug']);
    const secret_mappings = [{ target_field: 'key', secret_reference_id: id }];
    const moved = { config: { base_url: 'https://elsewhere.example.com' }, secret_mappings };
    expect(refusalOf(await gateway.admin.patch(`/v1/virtual-keys/${slug}`, moved))).toMatchObject(REFUSED);
  });

  it('takes the scope secret_references.use', async () => {
    const id = await referenceTo({});
    const scopes = ['virtual_keys.create', 'mcp_servers.create', 'secret_references.read'];
    const body = { name: 'v', provider: 'cohere', secret_mappings: [{ target_field: 'key', secret_reference_id: id }] };
    const { client: reader } = await gateway.admin.createKey({ scopes });
    const refused = await reader.post('/v1/virtual-keys', body);
    expect(refusalOf(refused)).toMatchObject({ status: 403, code: 'permission_denied' });
    expect(refused.text).toContain('secret_references.use');
    const { client: user } = await gateway.admin.createKey({ scopes: [...scopes, 'secret_references.use'] });
    expect((await user.post('/v1/virtual-keys', body)).status).toBe(201);
  });
});

describe('sending a mapped secret', () => {
  it('stops when allowed_hosts or allowed_providers are narrowed', async () => {
    const id = await referenceTo({});
    const slug = String(jsonOf(await virtualKey(id, base_url()))['slug']);
    expect((await gateway.rerank(slug)).status).toBe(200);
    const sent = gateway.provider.calls.length;
    const lists = [
      { allowed_hosts: ['api.cohere.com'], allowed_providers: null },
      { allowed_hosts: null, allowed_providers: ['cohere'] },
      { allowed_hosts: [here()], allowed_providers: ['jina'] },
    ];
    for (const list of lists) {
      expect((await gateway.admin.patch(`/v1/secret-references/${id}`, list)).status).toBe(200);
      expect(refusalOf(await gateway.rerank(slug))).toMatchObject({ status: 502, code: 'secret_unavailable' });
      const tested = jsonOf(await gateway.admin.post(`/v1/virtual-keys/${slug}/test`));
      expect(tested).toMatchObject({ ok: false, secret_error: 'destination_not_allowed' });
    }
    expect(gateway.provider.calls).toHaveLength(sent);
    await gateway.admin.patch(`/v1/secret-references/${id}`, {
      allowed_hosts: [here()],
      allowed_providers: ['cohere'],
    });
    expect((await gateway.rerank(slug)).status).toBe(200);
  });

  it('stops for an MCP server as well', async () => {
    const id = await referenceTo({});
    const slug = String(jsonOf(await mcpServer(id))['slug']);
    const call = (): Promise<Answer> =>
      send(`${gateway.app.url}/${slug}/mcp`, {
        headers: {
          accept: 'application/json, text/event-stream',
          'content-type': 'application/json',
          'x-gateway-api-key': ADMIN_KEY,
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      });
    expect((await call()).status).toBe(200);
    for (const list of [
      { allowed_hosts: ['mcp.example.com'] },
      { allowed_hosts: null, allowed_providers: ['cohere'] },
    ]) {
      await gateway.admin.patch(`/v1/secret-references/${id}`, list);
      expect((await call()).status).toBe(502);
    }
    expect(server.received).toHaveLength(1);
  });

  it('is checked for an address that comes from a secret, too', async () => {
    const address = await gateway.reference('address', { slug: `a-${randomUUID()}` });
    const mappingsOf = (id: string): object[] => [
      { target_field: 'key', secret_reference_id: id },
      { target_field: 'config.base_url', secret_reference_id: address },
    ];
    const elsewhere = await referenceTo({ allowed_hosts: ['api.cohere.com'] });
    const refused = await virtualKey(elsewhere, { secret_mappings: mappingsOf(elsewhere) });
    const slug = String(jsonOf(refused)['slug']);
    expect(refusalOf(await gateway.rerank(slug))).toMatchObject({ status: 502, code: 'secret_unavailable' });
    const ours = await referenceTo({ allowed_hosts: [here()] });
    const allowed = await virtualKey(ours, { secret_mappings: mappingsOf(ours) });
    expect((await gateway.rerank(String(jsonOf(allowed)['slug']))).status).toBe(200);
  });
});

describe('the lists of a secret reference', () => {
  it.each([
    ['allowed_hosts', []],
    ['allowed_hosts', ['https://api.cohere.com']],
    ['allowed_hosts', ['*']],
    ['allowed_hosts', Array.from({ length: 65 }, () => 'a.example.com')],
    ['allowed_providers', ['nobody']],
    ['allowed_providers', []],
  ])('names %s in the refusal, case %#', async (param, list) => {
    const body = { auth_config: { vault_auth_type: 'token', vault_addr: gateway.vault.addr, vault_token: 'x' } };
    const fields = { ...body, name: 'r', manager_type: 'hashicorp_vault', secret_path: 'secret/value' };
    const answer = await gateway.admin.post('/v1/secret-references', { ...fields, [param]: list });
    expect(refusalOf(answer)).toMatchObject({ status: 400, param });
  });

  it('are returned as they were given', async () => {
    const lists = { allowed_hosts: ['*.example.com', '10.0.0.1:8443'], allowed_providers: ['cohere', 'jina'] };
    const id = await referenceTo(lists);
    expect(await gateway.admin.read(`/v1/secret-references/${id}`)).toMatchObject(lists);
    const plain = await referenceTo({});
    expect(await gateway.admin.read(`/v1/secret-references/${plain}`)).toMatchObject({
      allowed_hosts: null,
      allowed_providers: null,
    });
  });
});
