// How MCP servers behave while the secrets behind their headers change or are unavailable.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { McpCall } from '../src/mcp/calls/mcp-call.entity.js';
import { McpCallRecorder } from '../src/mcp/calls/mcp-call.recorder.js';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { json, plain, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { SecretGateway } from './support/secret-gateway.js';
import { type Answer, jsonOf, send } from './support/send.js';
import { ADMIN_KEY, startTestApp } from './support/test-app.js';

const OLD = 'old-secret-0123456789';
const NEW = 'new-secret-0123456789';
const CACHE_MS = 60_000;
const STALE_MS = 120_000;
const HEADERS = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const CALL = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'echo', arguments: {} } };

let gateway: SecretGateway;
let server: RawMcpServer;
/** Each test has its own secret, a reference to it and a server that uses it. */
let path: string;
let reference: string;
let url: string;

beforeAll(async () => {
  [gateway, server] = await Promise.all([
    SecretGateway.start({
      SECRET_CACHE_MS: String(CACHE_MS),
      SECRET_STALE_MS: String(STALE_MS),
      SECRET_MANAGER_TIMEOUT_MS: '1500',
    }),
    startRawMcpServer(),
  ]);
});

beforeEach(async () => {
  gateway.vault.heal();
  path = `mcp-${randomUUID()}`;
  gateway.kv.put(path, { token: OLD });
  reference = await gateway.reference(path);
  url = await register([{ target_field: 'headers.X-Key', secret_reference_id: reference }]);
  accept([OLD]);
  expect((await call()).status).toBe(200);
  server.forget();
});

afterAll(async () => {
  await gateway.close();
  await server.close();
});

async function register(secret_mappings: readonly object[], fields: object = {}): Promise<string> {
  const slug = `s-${randomUUID()}`;
  const body = { name: 'Mapped', slug, url: server.endpoint.href, secret_mappings, ...fields };
  await gateway.admin.create('/v1/mcp-servers', body);
  return `${gateway.app.url}/${slug}/mcp`;
}

/** Makes the server accept only these keys. */
function accept(keys: readonly string[], refusal = 401): void {
  server.answerWith((request, response) => {
    const isGood = keys.includes(String(request.headers['x-key']));
    (isGood ? json({ jsonrpc: '2.0', id: 7, result: {} }) : plain(refusal))(request, response);
  });
}

function call(address = url, method = 'POST'): Promise<Answer> {
  const headers = { ...HEADERS, 'x-gateway-api-key': ADMIN_KEY };
  return send(address, { method, headers, body: method === 'POST' ? JSON.stringify(CALL) : '' });
}

function outcomeOf(answer: Answer): readonly unknown[] {
  return [answer.status, Object(Object(jsonOf(answer)['error']).data).code];
}

function keys(): readonly string[] {
  return server.received.map(({ rawHeaders }) => {
    const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'x-key');
    return rawHeaders[at + 1] ?? '';
  });
}

const UNAVAILABLE = [502, 'secret_unavailable'];
const REJECTED = [502, 'provider_credential_rejected'];

describe('a rotation of a mapped header', () => {
  it.each(['POST', 'GET', 'DELETE'])(
    'fetches the rotated secret at the first refusal and loses no %s',
    async (method) => {
      gateway.kv.put(path, { token: NEW });
      accept([NEW]);
      expect((await call(url, method)).status).toBe(200);
      expect((await call(url, method)).status).toBe(200);
      expect(keys()).toEqual([OLD, NEW, NEW]);
      expect(gateway.readsOf(path)).toBe(2);
    },
  );

  it('resends the same bytes after a rotation, and records one call', async () => {
    gateway.kv.put(path, { token: NEW });
    accept([NEW], 403);
    expect(jsonOf(await call())).toMatchObject({ id: 7, result: {} });
    expect(server.received.map(({ body }) => body.toString())).toEqual([JSON.stringify(CALL), JSON.stringify(CALL)]);
    await gateway.app.app.get(McpCallRecorder, { strict: false }).flush();
    const serverSlug = new URL(url).pathname.split('/')[1] ?? '';
    const rows = await gateway.app.dataSource.getRepository(McpCall).find({ where: { serverSlug } });
    expect(rows.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('loses no call to a rotation under load, and reads the secret once', async () => {
    gateway.kv.put(path, { token: NEW });
    accept([NEW]);
    const answers = await Promise.all(Array.from({ length: 50 }, () => call()));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(gateway.readsOf(path)).toBe(2);
  });

  it('limits how often it reads a secret that has not changed after a refusal', async () => {
    accept([NEW]);
    const answers = await Promise.all(Array.from({ length: 20 }, () => call()));
    for (const answer of answers) expect(outcomeOf(answer)).toEqual(REJECTED);
    expect(gateway.readsOf(path)).toBe(2);
    // Nothing was sent again, since the secret had not changed.
    expect(server.received).toHaveLength(20);
  });

  it('retries once when the server refuses the rotated secret too', async () => {
    gateway.kv.put(path, { token: NEW });
    accept([]);
    expect(outcomeOf(await call())).toEqual(REJECTED);
    expect(keys()).toEqual([OLD, NEW]);
  });

  it('uses the rotated secret after the cache time, without any refusal', async () => {
    gateway.kv.put(path, { token: NEW });
    accept([OLD, NEW]);
    await call();
    gateway.app.clock.advance(1.2 * CACHE_MS);
    await call();
    expect(keys()).toEqual([OLD, NEW]);
  });

  it('does not retry when the server refuses a stored header', async () => {
    accept([]);
    const stored = await register([], { headers: { 'X-Key': OLD } });
    const reads = gateway.readsOf(path);
    expect(outcomeOf(await call(stored))).toEqual(REJECTED);
    expect(server.received).toHaveLength(1);
    expect(gateway.readsOf(path)).toBe(reads);
  });

  it('uses the rotated secret in the server test immediately', async () => {
    gateway.kv.put(path, { token: NEW });
    accept([NEW]);
    await gateway.admin.post(`/v1/mcp-servers/${new URL(url).pathname.split('/')[1] ?? ''}/test`);
    expect(new Set(keys())).toEqual(new Set([NEW]));
  });
});

describe('a secret manager that is down', () => {
  it.each(['silent', 'broken', 'sealed', 'throttled'] as const)(
    'uses the cached secret while the manager is down (%s)',
    async (fault) => {
      gateway.vault.fail(fault);
      gateway.app.clock.advance(1.2 * CACHE_MS);
      const answers = await Promise.all(Array.from({ length: 5 }, () => call()));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect(new Set(keys())).toEqual(new Set([OLD]));
    },
  );

  it('uses the cached secret for a limited time, then fails, and recovers without a restart', async () => {
    gateway.vault.fail('broken');
    gateway.app.clock.advance(1.2 * CACHE_MS);
    expect((await call()).status).toBe(200);
    server.forget();
    gateway.app.clock.advance(STALE_MS);
    expect(outcomeOf(await call())).toEqual(UNAVAILABLE);
    const asked = gateway.readsOf(path);
    const answers = await Promise.all(Array.from({ length: 20 }, () => call()));
    for (const answer of answers) expect(outcomeOf(answer)).toEqual(UNAVAILABLE);
    expect(gateway.readsOf(path)).toBe(asked);
    expect(server.received).toEqual([]);
    gateway.vault.heal();
    gateway.app.clock.advance(5_000);
    await eventually(async () => (await call()).status === 200);
  });

  it('fails only the servers whose secret was never read, with a JSON-RPC error', async () => {
    const stored = await register([], { headers: { 'X-Key': OLD } });
    gateway.vault.fail('silent');
    const fresh = await register([
      { target_field: 'headers.X-Key', secret_reference_id: await gateway.reference(path) },
    ]);
    const failing = call(fresh);
    expect((await call(stored)).status).toBe(200);
    const answer = await failing;
    expect(outcomeOf(answer)).toEqual(UNAVAILABLE);
    expect(jsonOf(answer)).toMatchObject({ jsonrpc: '2.0' });
    expect(keys()).toEqual([OLD]);
  });

  it('reads no secret for callers without a key or for browser preflights', async () => {
    gateway.kv.put(`${path}-unused`, { token: OLD });
    const unused = await register([
      { target_field: 'headers.X-Key', secret_reference_id: await gateway.reference(`${path}-unused`) },
    ]);
    expect((await send(unused, { headers: HEADERS, body: JSON.stringify(CALL) })).status).toBe(401);
    const origin = { origin: 'https://app.example.com' };
    expect((await send(unused, { method: 'OPTIONS', headers: origin })).status).toBe(403);
    expect(gateway.readsOf(`${path}-unused`)).toBe(0);
  });

  it('reports a refused header as such while the manager is down', async () => {
    gateway.vault.fail('broken');
    accept([]);
    expect(outcomeOf(await call())).toEqual(REJECTED);
  });
});

describe('a change of the reference', () => {
  it('drops the old secret when its reference changes', async () => {
    accept([OLD, NEW]);
    gateway.kv.put(`${path}-moved`, { token: NEW });
    const changes = { secret_path: `secret/${path}-moved` };
    expect((await gateway.admin.patch(`/v1/secret-references/${reference}`, changes)).status).toBe(200);
    await call();
    expect(keys()).toEqual([NEW]);
  });

  it('uses a changed reference on another replica within ten seconds', async () => {
    accept([OLD, NEW]);
    const replica = await startTestApp({}, true);
    try {
      const there = url.replace(gateway.app.url, replica.url);
      expect((await call(there)).status).toBe(200);
      gateway.kv.put(`${path}-moved`, { token: NEW });
      await new GatewayClient(gateway.app.url).patch(`/v1/secret-references/${reference}`, {
        secret_path: `secret/${path}-moved`,
      });
      await eventually(async () => {
        server.forget();
        await call(there);
        return keys().join() === NEW;
      }, 10_000);
    } finally {
      await replica.close();
    }
  });

  it('does not use the old value when the reference points to a revoked secret', async () => {
    gateway.kv.softDelete(path, 1);
    gateway.app.clock.advance(1.2 * CACHE_MS);
    expect(outcomeOf(await call())).toEqual(UNAVAILABLE);
    expect(server.received).toEqual([]);
  });
});

describe('an introspection secret from the manager', () => {
  const TOKEN = 'opaque-token-of-alice';

  /** An identity provider that accepts the gateway by one secret; counts the requests and records their secrets. */
  async function provider(): Promise<RawMcpServer & { knows(secret: string): void }> {
    const idp = await startRawMcpServer();
    const knows = (secret: string): void => {
      const good = `Basic ${Buffer.from(`gateway:${secret}`).toString('base64')}`;
      idp.answerWith((request, response) =>
        (request.headers.authorization === good
          ? json({ active: true, sub: 'alice', client_id: 'app' })
          : plain(401, {}, '{"error":"invalid_client"}'))(request, response),
      );
    };
    return Object.assign(idp, { knows });
  }

  function callAs(address: string, token: string): Promise<Answer> {
    return send(address, { headers: { ...HEADERS, authorization: `Bearer ${token}` }, body: JSON.stringify(CALL) });
  }

  it('authenticates users through a rotation of the introspection secret', async () => {
    const idp = await provider();
    try {
      idp.knows(OLD);
      accept(['undefined']);
      const introspection = { endpoint: idp.endpoint.href, client_id: 'gateway', cache_seconds: 0 };
      const mapping = {
        target_field: 'jwt_validation.introspection.client_secret',
        secret_reference_id: reference,
      };
      const address = await register([mapping], { jwt_validation: { introspection } });
      expect((await callAs(address, TOKEN)).status).toBe(200);
      gateway.kv.put(path, { token: NEW });
      idp.knows(NEW);
      gateway.app.clock.advance(10_000);
      expect((await callAs(address, TOKEN)).status).toBe(200);
      expect(idp.received).toHaveLength(3);
      expect(outcomeOf(await callAs(address, `${TOKEN}-2`))[0]).toBe(200);
      idp.knows('another');
      expect(outcomeOf(await callAs(address, `${TOKEN}-3`))).toEqual([502, 'identity_provider_unavailable']);
      gateway.vault.fail('broken');
      gateway.app.clock.advance(1.2 * CACHE_MS + STALE_MS);
      expect(outcomeOf(await callAs(address, TOKEN))).toEqual(UNAVAILABLE);
      // A caller with a key does not need the identity provider.
      expect((await call(address)).status).toBe(200);
      expect(gateway.app.log()).not.toContain(NEW);
    } finally {
      await idp.close();
    }
  });
});
