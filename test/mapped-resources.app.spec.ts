// The rules that virtual keys and MCP servers share: sealed fields, masks, mapped secrets and the host rule.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { keyOf, SecretGateway } from './support/secret-gateway.js';
import { type Answer, jsonOf, refusalOf, send } from './support/send.js';
import { addTenant } from './support/tenants.js';
import { ADMIN_KEY } from './support/test-app.js';

const SECRET = 'inline-secret-0123456789';
const NEW_SECRET = 'another-secret-9876543210';
const IN_VAULT = 'secret-in-the-vault-abcdef';
const ROTATED = 'secret-in-the-vault-rotated';
const ELSEWHERE = 'https://elsewhere.example.com';

let gateway: SecretGateway;
let server: RawMcpServer;

interface Resource {
  readonly kind: string;
  readonly path: string;
  readonly table: string;
  /** The secret field, as target of a mapping. */
  readonly field: string;
  /** A body that gives the secret field a value. */
  readonly secret: (value: string | null) => object;
  /** A body with an address. */
  readonly address: (url: string) => object;
  /** The upstream that the address leads to. */
  readonly upstream: () => string;
  readonly fields: object;
  /** The secret as an answer shows it. */
  readonly shown: (body: Readonly<Record<string, unknown>>) => unknown;
  /** Uses the resource. */
  readonly use: (slug: string) => Promise<Answer>;
  /** The secrets that have reached the upstream. */
  readonly received: () => readonly unknown[];
  /** Makes the upstream accept only these secrets. */
  readonly accept: (secrets: readonly string[]) => void;
}

const VIRTUAL_KEY: Resource = {
  kind: 'virtual key',
  path: '/v1/virtual-keys',
  table: 'virtual_keys',
  field: 'key',
  secret: (key) => ({ key }),
  address: (base_url) => ({ config: { base_url } }),
  upstream: () => gateway.provider.url,
  fields: { provider: 'cohere' },
  shown: ({ key }) => key,
  use: (slug) => gateway.rerank(slug),
  received: () => gateway.provider.calls.map(keyOf),
  accept: (secrets) => gateway.accept(secrets),
};

const MCP_SERVER: Resource = {
  kind: 'MCP server',
  path: '/v1/mcp-servers',
  table: 'mcp_servers',
  field: 'headers.X-Key',
  secret: (value) => ({ headers: { 'X-Key': value } }),
  address: (url) => ({ url }),
  upstream: () => server.endpoint.href,
  fields: {},
  shown: ({ headers }) => Object(headers)['X-Key'],
  use: (slug) =>
    send(`${gateway.app.url}/${slug}/mcp`, {
      headers: {
        accept: 'application/json, text/event-stream',
        'content-type': 'application/json',
        'x-gateway-api-key': ADMIN_KEY,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: {} } }),
    }),
  received: () => server.received.map(({ rawHeaders }) => keyHeader(rawHeaders)),
  accept: (secrets) =>
    server.answerWith((request, response) => {
      const isAccepted = secrets.includes(keyHeader(request.rawHeaders) ?? '');
      json(isAccepted ? { jsonrpc: '2.0', id: 1, result: {} } : {}, isAccepted ? 200 : 401)(request, response);
    }),
};

function keyHeader(rawHeaders: readonly string[]): string | undefined {
  return rawHeaders[rawHeaders.findIndex((name, at) => at % 2 === 0 && name.toLowerCase() === 'x-key') + 1];
}

beforeAll(async () => {
  [gateway, server] = await Promise.all([SecretGateway.start(), startRawMcpServer()]);
});

beforeEach(() => {
  gateway.provider.forget();
  server.forget();
});

afterAll(async () => {
  await gateway.close();
  await server.close();
});

describe.each([VIRTUAL_KEY, MCP_SERVER])('a $kind', (resource) => {
  /** Creates the resource with a secret of its own, or with these fields instead. */
  async function make(
    fields: object = resource.secret(SECRET),
  ): Promise<{ readonly slug: string; readonly path: string }> {
    const slug = `r-${randomUUID()}`;
    const body = { name: 'Contract', slug, ...resource.fields, ...resource.address(resource.upstream()), ...fields };
    await gateway.admin.create(resource.path, body);
    return { slug, path: `${resource.path}/${slug}` };
  }

  /** Maps the secret field to a new secret of the vault. */
  async function mapping(
    value: string,
  ): Promise<{ readonly name: string; readonly secret_mappings: readonly object[] }> {
    const name = `contract-${randomUUID()}`;
    gateway.kv.put(name, { value });
    const secret_reference_id = await gateway.reference(name);
    return { name, secret_mappings: [{ target_field: resource.field, secret_reference_id }] };
  }

  const refusedFor = (param: string) => ({ status: 400, code: 'validation_failed', param });

  it('seals its secret at rest and shows it masked in every answer', async () => {
    const { path } = await make();
    const read = await gateway.admin.get(path);
    const changed = await gateway.admin.patch(path, { name: 'Renamed' });
    const listed = await gateway.admin.get(`${resource.path}?page_size=100`);
    const rows: unknown = await gateway.app.dataSource.query(`SELECT "t"::text FROM "${resource.table}" AS "t"`);
    expect([read, changed].map((answer) => resource.shown(jsonOf(answer)))).toEqual(['****6789', '****6789']);
    for (const text of [read.text, changed.text, listed.text, JSON.stringify(rows), gateway.app.log()]) {
      expect(text).not.toContain(SECRET);
    }
  });

  it('keeps its secret when an update leaves it out or sends its mask back', async () => {
    const { slug, path } = await make();
    resource.accept([SECRET]);
    expect((await gateway.admin.patch(path, { description: 'Merged' })).status).toBe(200);
    expect((await gateway.admin.patch(path, resource.secret('****6789'))).status).toBe(200);
    expect((await resource.use(slug)).status).toBe(200);
    expect(resource.received()).toEqual([SECRET]);
  });

  it('uses the secret of an update from the next request on', async () => {
    const { slug, path } = await make();
    resource.accept([SECRET, NEW_SECRET]);
    await resource.use(slug);
    expect(resource.shown(jsonOf(await gateway.admin.patch(path, resource.secret(NEW_SECRET))))).toBe('****3210');
    await resource.use(slug);
    expect(resource.received()).toEqual([SECRET, NEW_SECRET]);
  });

  it('refuses the mask of another secret in creates and updates', async () => {
    const { path } = await make();
    const stale = resource.secret('****0000');
    const body = { name: 'Stale', ...resource.fields, ...resource.address(resource.upstream()), ...stale };
    for (const answer of [await gateway.admin.patch(path, stale), await gateway.admin.post(resource.path, body)]) {
      expect(refusalOf(answer)).toMatchObject(refusedFor(resource.field));
    }
    expect(resource.shown(await gateway.admin.read(path))).toBe('****6789');
  });

  it('requires the secret again before sending it to another host', async () => {
    const { path } = await make();
    const moved = resource.address(ELSEWHERE);
    for (const body of [moved, { ...moved, ...resource.secret('****6789') }]) {
      const answer = await gateway.admin.patch(path, body);
      expect(refusalOf(answer)).toMatchObject(refusedFor(resource.field));
      expect(answer.text).toContain('must be sent again when');
    }
    expect(await gateway.admin.read(path)).toMatchObject(resource.address(resource.upstream()));
    const sameHost = new URL('/other/path', resource.upstream()).href;
    expect((await gateway.admin.patch(path, resource.address(sameHost))).status).toBe(200);
    expect((await gateway.admin.patch(path, { ...moved, ...resource.secret(NEW_SECRET) })).status).toBe(200);
  });

  it('requires the mappings again before sending a mapped secret to another host', async () => {
    const { secret_mappings } = await mapping(IN_VAULT);
    const { path } = await make({ secret_mappings });
    const moved = resource.address(ELSEWHERE);
    expect(refusalOf(await gateway.admin.patch(path, moved))).toMatchObject(refusedFor('secret_mappings'));
    expect((await gateway.admin.patch(path, { ...moved, secret_mappings })).status).toBe(200);
  });

  it('uses a mapped value instead of the stored one, and deletes the stored one', async () => {
    const { slug, path } = await make();
    const { secret_mappings } = await mapping(IN_VAULT);
    resource.accept([IN_VAULT]);
    expect(resource.shown(jsonOf(await gateway.admin.patch(path, { secret_mappings }))) ?? null).toBeNull();
    expect((await resource.use(slug)).status).toBe(200);
    expect(resource.received()).toEqual([IN_VAULT]);
    expect(refusalOf(await gateway.admin.patch(path, resource.secret(SECRET)))).toMatchObject(
      refusedFor(resource.field),
    );
  });

  it('fetches a mapped value again when the upstream rejects it', async () => {
    const { name, secret_mappings } = await mapping(IN_VAULT);
    const { slug } = await make({ secret_mappings });
    resource.accept([IN_VAULT]);
    expect((await resource.use(slug)).status).toBe(200);
    gateway.kv.put(name, { value: ROTATED });
    resource.accept([ROTATED]);
    expect((await resource.use(slug)).status).toBe(200);
    expect(resource.received()).toEqual([IN_VAULT, IN_VAULT, ROTATED]);
  });

  it('refuses a field that is both mapped and given, and an unknown field', async () => {
    const { secret_mappings } = await mapping(IN_VAULT);
    const body = { name: 'Both', ...resource.fields, ...resource.address(resource.upstream()) };
    const unknown = secret_mappings.map((fields) => ({ ...fields, target_field: 'name' }));
    for (const wrong of [{ secret_mappings, ...resource.secret(SECRET) }, { secret_mappings: unknown }]) {
      expect(refusalOf(await gateway.admin.post(resource.path, { ...body, ...wrong }))).toMatchObject(
        refusedFor('secret_mappings.0.target_field'),
      );
    }
  });

  it("refuses another organisation's secret reference as it refuses an unknown one", async () => {
    const foreign = await addTenant(gateway.app, `foreign-${randomUUID()}`);
    const { path } = await make();
    const theirs = await gateway.reference('contract', {}, foreign.client);
    const messages = new Set<unknown>();
    for (const secret_reference_id of [theirs, randomUUID()]) {
      const secret_mappings = [{ target_field: resource.field, secret_reference_id }];
      const answer = await gateway.admin.patch(path, { secret_mappings });
      expect(refusalOf(answer)).toMatchObject(refusedFor('secret_mappings.0.secret_reference_id'));
      messages.add(Object(jsonOf(answer)['error']).message);
    }
    expect(messages.size).toBe(1);
    expect(resource.shown(await gateway.admin.read(path))).toBe('****6789');
  });

  it('writes every change to the audit log with field names and without values', async () => {
    const { path } = await make();
    const { id } = await gateway.admin.read(path);
    await gateway.admin.patch(path, resource.secret(NEW_SECRET));
    await gateway.admin.delete(path);
    const { text } = await gateway.admin.get(`/v1/audit-logs?resource=${String(id)}`);
    for (const verb of ['create', 'update', 'delete']) expect(text).toContain(`"${resource.table}.${verb}"`);
    expect(text).not.toContain(NEW_SECRET);
  });
});
