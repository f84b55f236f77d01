// The server that an address refers to, and for which callers.
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { Workspace } from '../src/workspaces/workspace.entity.js';
import { rawMcpGateway } from './support/raw-mcp-gateway.js';
import { requestLine } from './support/request-line.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { addTenant, type Tenant } from './support/tenants.js';
import { ADMIN_KEY } from './support/test-app.js';

const KEY = { 'x-gateway-api-key': ADMIN_KEY };
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
const SHARED_PAGE = 'https://shared.example.com';
const OWN_PAGE = 'https://own.example.com';
const PREFLIGHT = { 'access-control-request-method': 'POST' };

const mcp = rawMcpGateway();
let workspaceId: string;
let inWorkspace: Readonly<Record<string, string>>;
let slug: string;

beforeAll(async () => {
  workspaceId = await mcp.admin.createWorkspace(`W ${randomUUID()}`);
  const { key } = await mcp.admin.createKey({ scopes: ['mcp.invoke'], level: 'workspace', workspace_id: workspaceId });
  inWorkspace = { 'x-gateway-api-key': key };
});

/** Its identity provider has a name that challenges and metadata show. */
function definition(name: string, page: string): object {
  const provider = `https://${name}.example.com`;
  return {
    name,
    slug,
    url: mcp.raw.url(`/${name}`).href,
    allowed_origins: [page],
    jwt_validation: { jwksUri: `${provider}/keys`, issuer: provider, advertise_issuer: true },
  };
}

/** Registers a server of the whole organisation, and one of the same slug in a workspace. */
async function registerBoth(): Promise<void> {
  slug = `s-${randomUUID()}`;
  await mcp.admin.create('/v1/mcp-servers', definition('shared', SHARED_PAGE));
  await mcp.admin.create('/v1/mcp-servers', { ...definition('own', OWN_PAGE), workspace_id: workspaceId });
}

function post(path: string, headers: Readonly<Record<string, string>>): Promise<Answer> {
  const all = { 'content-type': 'application/json', ...headers };
  return send(`${mcp.gateway.url}${path}/mcp`, { headers: all, body: PING });
}

function preflight(path: string, origin: string): Promise<Answer> {
  return send(`${mcp.gateway.url}${path}/mcp`, { method: 'OPTIONS', headers: { origin, ...PREFLIGHT } });
}

/** The identity providers that the metadata of an address name. */
async function providerOf(path: string): Promise<unknown> {
  const answer = await send(`${mcp.gateway.url}/.well-known/oauth-protected-resource${path}/mcp`, { method: 'GET' });
  return answer.status === 200 ? jsonOf(answer)['authorization_servers'] : answer.status;
}

describe('a slug of both the organisation and a workspace', () => {
  it("resolves a slug to the workspace's server for its keys, else to the shared server", async () => {
    await registerBoth();
    expect((await post(`/${slug}`, inWorkspace)).status).toBe(200);
    expect((await post(`/${slug}`, KEY)).status).toBe(200);
    expect((await post(`/${workspaceId}/${slug}`, KEY)).status).toBe(200);
    expect(mcp.raw.received.map(({ path }) => path)).toEqual(['/own', '/shared', '/own']);
  });

  it('refers callers without a key to the identity provider of the same server', async () => {
    await registerBoth();
    for (const [path, name] of [
      [`/${slug}`, 'shared'],
      [`/${workspaceId}/${slug}`, 'own'],
    ] as const) {
      expect(await providerOf(path)).toEqual([`https://${name}.example.com`]);
      const { status, headers } = await post(path, {});
      expect([status, headers['www-authenticate']]).toEqual([401, expect.stringContaining('resource_metadata=')]);
    }
  });

  it('allows only the browser origins of the server that the address refers to', async () => {
    await registerBoth();
    expect((await preflight(`/${slug}`, SHARED_PAGE)).status).toBe(204);
    expect((await preflight(`/${slug}`, OWN_PAGE)).status).toBe(403);
    expect((await preflight(`/${workspaceId}/${slug}`, OWN_PAGE)).status).toBe(204);
    expect((await preflight(`/${workspaceId}/${slug}`, SHARED_PAGE)).status).toBe(403);
    // The key selects the workspace's server, which does not allow that origin.
    expect((await post(`/${slug}`, { ...inWorkspace, origin: SHARED_PAGE })).status).toBe(403);
    expect(mcp.raw.received).toEqual([]);
    const allowed = await post(`/${slug}`, { ...inWorkspace, origin: OWN_PAGE });
    expect([allowed.status, allowed.headers['access-control-allow-origin']]).toEqual([200, OWN_PAGE]);
    const badKey = await post(`/${slug}`, { 'x-gateway-api-key': 'nobody', origin: SHARED_PAGE });
    expect([badKey.status, badKey.headers['access-control-allow-origin']]).toEqual([401, SHARED_PAGE]);
  });

  it('refuses an address that imitates the cache entry of a key', async () => {
    await registerBoth();
    expect((await post(`/${slug}`, inWorkspace)).status).toBe(200);
    const { organisationId } = await mcp.gateway.dataSource
      .getRepository(Workspace)
      .findOneByOrFail({ id: workspaceId });
    const spelt = `/${organisationId}%2F${workspaceId}/${slug}`;
    expect((await preflight(spelt, OWN_PAGE)).status).toBe(403);
    expect(await providerOf(spelt)).toBe(404);
  });

  it('resolves a slug to the shared server although several workspaces have it', async () => {
    await registerBoth();
    for (let each = 0; each < 3; each += 1) {
      const workspace_id = await mcp.admin.createWorkspace(`V ${randomUUID()}`);
      await mcp.admin.create('/v1/mcp-servers', { ...definition('other', OWN_PAGE), workspace_id });
    }
    expect((await post(`/${slug}`, KEY)).status).toBe(200);
    expect(mcp.raw.received.map(({ path }) => path)).toEqual(['/shared']);
    expect(await providerOf(`/${slug}`)).toEqual(['https://shared.example.com']);
  });
});

describe('a server with the name of an address of models', () => {
  it('is what all methods reach', async () => {
    await mcp.admin.create('/v1/mcp-servers', { name: 'Responses', slug: 'responses', url: mcp.raw.url('/r').href });
    const headers = { ...KEY, accept: 'text/event-stream', 'mcp-session-id': 'none' };
    for (const method of ['GET', 'DELETE']) {
      const answer = await send(`${mcp.gateway.url}/responses/mcp`, { method, headers });
      expect(jsonOf(answer)).toMatchObject({ jsonrpc: '2.0' });
    }
  });
});

describe('the metadata of a server', () => {
  const METADATA = '/.well-known/oauth-protected-resource';
  const preflightOf = (path: string): Promise<Answer> => {
    const asked = { 'access-control-request-method': 'GET', 'access-control-request-headers': 'mcp-protocol-version' };
    return send(mcp.gateway.url + path, { method: 'OPTIONS', headers: { origin: OWN_PAGE, ...asked } });
  };

  it('serves metadata to every origin, also with an MCP protocol version header', async () => {
    await registerBoth();
    const paths = [`/${slug}/mcp`, `/${slug}/sse`, `/${workspaceId}/${slug}/mcp`, '/no-such-server/mcp'];
    for (const path of paths) {
      const answer = await preflightOf(METADATA + path);
      expect([path, answer.status, answer.text]).toEqual([path, 204, '']);
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET',
        'access-control-allow-headers': 'mcp-protocol-version',
      });
    }
  });

  it('refuses other methods than GET and OPTIONS on metadata', async () => {
    await registerBoth();
    const answer = await send(`${mcp.gateway.url}${METADATA}/${slug}/mcp`, { headers: { origin: OWN_PAGE } });
    expect([answer.status, answer.headers['allow']]).toEqual([405, 'GET, OPTIONS']);
    // There is no authorization server here, which a page may read.
    expect((await preflightOf('/.well-known/openid-configuration')).status).toBe(204);
    const absent = await send(`${mcp.gateway.url}/.well-known/openid-configuration`, { method: 'GET' });
    expect(absent.status).toBe(404);
  });
});

describe('a slug of two organisations', () => {
  const registerAt = async ({ client }: Tenant): Promise<void> => {
    await client.create('/v1/mcp-servers', definition('foreign', OWN_PAGE));
  };

  it('resolves an ambiguous slug to no server without a key', async () => {
    const other = await addTenant(mcp.gateway, `addresses-${randomUUID()}`);
    await registerBoth();
    for (let each = 0; each < 3; each += 1) {
      const workspace_id = await mcp.admin.createWorkspace(`V ${randomUUID()}`);
      await mcp.admin.create('/v1/mcp-servers', { ...definition('other', OWN_PAGE), workspace_id });
    }
    await registerAt(other);
    expect(await providerOf(`/${slug}`)).toBe(404);
    expect((await preflight(`/${slug}`, SHARED_PAGE)).status).toBe(403);
    const traceId = randomUUID();
    const refused = await post(`/${slug}`, { authorization: 'Bearer e30.e30.e30', 'x-gateway-trace-id': traceId });
    expect(refused.headers['www-authenticate']).not.toContain('resource_metadata');
    expect(await requestLine(mcp.gateway, traceId)).toMatchObject({
      error_code: 'token_invalid',
      error_reason: 'malformed',
    });
    // The workspace identifies the organisation.
    expect(await providerOf(`/${workspaceId}/${slug}`)).toEqual(['https://own.example.com']);
    expect((await post(`/${slug}`, KEY)).status).toBe(200);
    expect(mcp.raw.received.map(({ path }) => path)).toEqual(['/shared']);
  });

  it('finds a server although other organisations have workspaces with the same slug', async () => {
    slug = `s-${randomUUID()}`;
    const tenants: Tenant[] = [];
    // Each has a workspace `default`.
    for (let each = 0; each < 6; each += 1) tenants.push(await addTenant(mcp.gateway, `addresses-${randomUUID()}`));
    const [first, , , , , last] = tenants;
    if (first === undefined || last === undefined) throw new Error('no tenants');
    await last.client.create('/v1/mcp-servers', { ...definition('own', OWN_PAGE), workspace_id: last.workspaceId });
    expect(await providerOf(`/default/${slug}`)).toEqual(['https://own.example.com']);
    await registerAt(first);
    expect(await providerOf(`/default/${slug}`)).toBe(404);
  });

  it("resolves a slug to the server of the caller's own organisation", async () => {
    const other = await addTenant(mcp.gateway, `addresses-${randomUUID()}`);
    await registerBoth();
    await registerAt(other);
    expect((await post(`/${slug}`, KEY)).status).toBe(200);
    expect((await other.client.post(`/${slug}/mcp`, JSON.parse(PING))).status).toBe(200);
    expect((await post(`/${slug}`, KEY)).status).toBe(200);
    expect(mcp.raw.received.map(({ path }) => path)).toEqual(['/shared', '/foreign', '/shared']);
  });

  it("serves a caller although the other organisation's server cannot be decrypted", async () => {
    const other = await addTenant(mcp.gateway, `addresses-${randomUUID()}`);
    await registerBoth();
    await registerAt(other);
    await mcp.gateway.dataSource.query(
      `UPDATE "mcp_servers" SET "sealed_secrets" = 'damaged' WHERE "slug" = $1 AND "organisation_id" = $2`,
      [slug, other.organisationId],
    );
    expect((await post(`/${slug}`, KEY)).status).toBe(200);
    expect((await post(`/${slug}`, {})).status).toBe(401);
  });
});
