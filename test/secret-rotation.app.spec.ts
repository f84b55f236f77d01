import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { VirtualKeyCache } from '../src/virtual-keys/virtual-key.cache.js';
import { VirtualKeyCredentials } from '../src/virtual-keys/virtual-key.credentials.js';
import { eventually } from './support/eventually.js';
import { json, type Reply, silence } from './support/fake-provider.js';
import { GatewayClient } from './support/gateway-client.js';
import { requestLine } from './support/request-line.js';
import { keyOf, RERANKED, SecretGateway } from './support/secret-gateway.js';
import { refusalOf } from './support/send.js';
import { ADMIN_KEY, startTestApp } from './support/test-app.js';

const OLD = 'sk-old-0123456789abcdef';
const NEW = 'sk-new-0123456789abcdef';
const CACHE_MS = 60_000;
const STALE_MS = 120_000;
const UNAVAILABLE = { status: 502, code: 'secret_unavailable', source: 'gateway' };
const REJECTED = { status: 502, code: 'provider_credential_rejected', source: 'provider' };

let gateway: SecretGateway;
let count = 0;
/** Each test has its own secret, a reference to it and a virtual key that uses it. */
let path: string;
let reference: string;
let slug: string;

beforeAll(async () => {
  gateway = await SecretGateway.start({
    SECRET_CACHE_MS: String(CACHE_MS),
    SECRET_STALE_MS: String(STALE_MS),
    SECRET_MANAGER_TIMEOUT_MS: '1500',
  });
});

beforeEach(async () => {
  gateway.vault.heal();
  gateway.accept([OLD]);
  path = `secret-${(count += 1)}`;
  gateway.kv.put(path, { api_key: OLD });
  reference = await gateway.reference(path);
  slug = await gateway.virtualKey(reference);
  expect((await gateway.rerank(slug)).status).toBe(200);
  gateway.provider.forget();
});

afterAll(() => gateway.close());

/** Closes the opened virtual keys, which would otherwise serve for some seconds. */
function reopen(): void {
  gateway.app.app.get(VirtualKeyCache, { strict: false }).clear();
}

async function statusesOf(times: number): Promise<ReadonlySet<number>> {
  const answers = await Promise.all(Array.from({ length: times }, () => gateway.rerank(slug)));
  return new Set(answers.map(({ status }) => status));
}

describe('a rotation of a mapped key', () => {
  it('loses no request to a rotation under load', async () => {
    gateway.accept([OLD], 5);
    let running = true;
    const failed: string[] = [];
    let served = 0;
    const callers = Array.from({ length: 16 }, async () => {
      while (running) {
        const answer = await gateway.rerank(slug);
        if (answer.status === 200) served += 1;
        else failed.push(answer.text);
      }
    });
    try {
      await eventually(() => served > 50);
      // The manager has the new value before the provider refuses the old one, as in any rotation without downtime.
      gateway.kv.put(path, { api_key: NEW });
      gateway.accept([NEW], 5);
      const before = served;
      await eventually(() => served > before + 100);
    } finally {
      running = false;
      await Promise.all(callers);
    }
    expect(failed).toEqual([]);
    expect(gateway.readsOf(path)).toBe(2);
    const refused = gateway.provider.calls.filter((call) => keyOf(call) === OLD).length;
    expect(gateway.provider.calls.length).toBeGreaterThan(refused);
  });

  it('fetches the rotated key at the first refusal and never sends the old key again', async () => {
    gateway.kv.put(path, { api_key: NEW });
    gateway.accept([NEW]);
    expect((await gateway.rerank(slug)).status).toBe(200);
    expect((await gateway.rerank(slug)).status).toBe(200);
    expect(gateway.provider.calls.map(keyOf)).toEqual([OLD, NEW, NEW]);
    expect(gateway.readsOf(path)).toBe(2);
  });

  it.each([403, 498])('also treats status %i as a refusal of the key', async (status) => {
    gateway.kv.put(path, { api_key: NEW });
    gateway.provider.replyWith((response, call) =>
      (keyOf(call) === NEW ? json(RERANKED) : json({ message: 'no' }, status))(response, call),
    );
    expect((await gateway.rerank(slug)).status).toBe(200);
  });

  it('limits how often it reads a secret that has not changed after a refusal', async () => {
    gateway.accept([NEW]);
    expect(await statusesOf(20)).toEqual(new Set([502]));
    expect(refusalOf(await gateway.rerank(slug))).toMatchObject(REJECTED);
    expect(gateway.readsOf(path)).toBe(2);
    // Nothing was retried, since the secret had not changed.
    expect(gateway.provider.calls).toHaveLength(21);
    gateway.kv.put(path, { api_key: NEW });
    gateway.app.clock.advance(10_000);
    reopen();
    expect((await gateway.rerank(slug)).status).toBe(200);
  });

  it('fetches the rotated key at the next call when a fetch failed inside the gateway', async () => {
    gateway.kv.put(path, { api_key: NEW });
    gateway.accept([NEW]);
    const credentials = gateway.app.app.get(VirtualKeyCredentials, { strict: false });
    const open = credentials.open.bind(credentials);
    let asked = 0;
    const spy = jest.spyOn(credentials, 'open').mockImplementation(async (source, freshness) => {
      if (freshness === 'fresh') asked += 1;
      if (freshness === 'fresh' && asked === 1) throw new Error('a defect');
      return open(source, freshness);
    });
    const statuses = [(await gateway.rerank(slug)).status, (await gateway.rerank(slug)).status];
    spy.mockRestore();
    expect([statuses, asked]).toEqual([[500, 200], 2]);
  });

  it('retries once when the provider refuses the rotated key too', async () => {
    gateway.accept([]);
    gateway.kv.put(path, { api_key: NEW });
    expect(refusalOf(await gateway.rerank(slug))).toMatchObject(REJECTED);
    expect(gateway.provider.calls.map(keyOf)).toEqual([OLD, NEW]);
  });

  describe('the limits of a call during a rotation', () => {
    /** Refuses the old key after a delay; the test sets the answer to the new key. */
    function refuseOld(milliseconds: number, reply: Reply): void {
      gateway.kv.put(path, { api_key: NEW });
      gateway.provider.replyWith((response, call) => {
        if (keyOf(call) === NEW) return reply(response, call);
        setTimeout(() => json({ message: 'no' }, 401)(response, call), milliseconds);
      });
    }

    it('keeps the timeout of a call through a rotation', async () => {
      const timeoutMs = 4_000;
      const hasty = await gateway.virtualKey(reference, {
        config: { base_url: gateway.provider.url, timeout_ms: timeoutMs },
      });
      refuseOld(timeoutMs * 0.75, silence);
      const startedAt = performance.now();
      expect(refusalOf(await gateway.rerank(hasty))).toMatchObject({ status: 504, code: 'provider_timeout' });
      expect(performance.now() - startedAt).toBeLessThan(timeoutMs * 1.5);
      expect(gateway.provider.calls.map(keyOf)).toEqual([OLD, NEW]);
    });

    it('keeps the number of attempts through a rotation, and logs them all', async () => {
      refuseOld(0, json({ message: 'busy' }, 503, { 'retry-after': '0' }));
      const headers = { 'x-gateway-virtual-key': slug, 'x-gateway-trace-id': 'attempts-of-a-rotation' };
      const body = { model: 'rerank-v3.5', query: 'q', documents: ['d'] };
      expect((await gateway.admin.post('/v1/rerank', body, headers)).status).toBe(502);
      expect(gateway.provider.calls.map(keyOf)).toEqual([OLD, NEW, NEW]);
      expect(await requestLine(gateway.app, 'attempts-of-a-rotation')).toMatchObject({ upstream_attempts: 3 });
    });

    it('returns the refusal when no time is left for the rotated key', async () => {
      const hasty = await gateway.virtualKey(reference, {
        config: { base_url: gateway.provider.url, timeout_ms: 2_000 },
      });
      refuseOld(0, json(RERANKED));
      const renew = jest.spyOn(VirtualKeyCache.prototype, 'renew');
      renew.mockImplementationOnce(async (virtualKey) => {
        await delay(2_050);
        return { ...virtualKey, credential: { ...virtualKey.credential, key: NEW } };
      });
      expect(refusalOf(await gateway.rerank(hasty))).toMatchObject(REJECTED);
      renew.mockRestore();
      expect(gateway.provider.calls.map(keyOf)).toEqual([OLD]);
    });
  });

  it('uses the rotated key after the cache time, without any refusal', async () => {
    gateway.accept([OLD, NEW]);
    gateway.kv.put(path, { api_key: NEW });
    await gateway.rerank(slug);
    gateway.app.clock.advance(1.2 * CACHE_MS);
    reopen();
    await gateway.rerank(slug);
    expect(gateway.provider.calls.map(keyOf)).toEqual([OLD, NEW]);
  });

  it('does not retry when the provider refuses a stored key', async () => {
    const stored = await gateway.virtualKey(reference, { key: NEW, secret_mappings: [] });
    const reads = gateway.readsOf(path);
    expect(refusalOf(await gateway.rerank(stored))).toMatchObject(REJECTED);
    expect(gateway.provider.calls).toHaveLength(1);
    expect(gateway.readsOf(path)).toBe(reads);
  });

  it('does not repeat an upload, but uses the rotated key for the next one', async () => {
    const files = await gateway.virtualKey(reference, { provider: 'openai' });
    gateway.provider.replyWith((response, call) =>
      (keyOf(call) === NEW ? json({ id: 'file-1', object: 'file' }) : json({ error: { message: 'no' } }, 401))(
        response,
        call,
      ),
    );
    gateway.kv.put(path, { api_key: NEW });
    const upload = async () => {
      const body = new FormData();
      body.set('purpose', 'batch');
      body.set('file', new Blob(['{}']), 'a.jsonl');
      const headers = { 'x-gateway-api-key': ADMIN_KEY, 'x-gateway-virtual-key': files };
      return (await fetch(`${gateway.app.url}/v1/files`, { method: 'POST', headers, body })).status;
    };
    expect(await upload()).toBe(502);
    expect(await upload()).toBe(200);
    expect(gateway.provider.calls.map(keyOf)).toEqual([OLD, NEW]);
  });
});

describe('a secret manager that is down', () => {
  it.each(['silent', 'broken', 'sealed', 'throttled'] as const)(
    'uses the cached key while the manager is down (%s)',
    async (fault) => {
      gateway.vault.fail(fault);
      gateway.app.clock.advance(1.2 * CACHE_MS);
      reopen();
      expect(await statusesOf(10)).toEqual(new Set([200]));
      expect((await gateway.admin.get('/metrics')).text).toMatch(
        /gateway_secret_stale_served_total\{manager="vendorC_vault"\} [1-9]/,
      );
    },
  );

  it('uses the cached key for a limited time, then fails, and recovers without a restart', async () => {
    gateway.vault.fail('broken');
    gateway.app.clock.advance(1.2 * CACHE_MS);
    reopen();
    expect((await gateway.rerank(slug)).status).toBe(200);
    gateway.app.clock.advance(STALE_MS);
    reopen();
    expect(refusalOf(await gateway.rerank(slug))).toMatchObject(UNAVAILABLE);
    const asked = gateway.readsOf(path);
    expect(await statusesOf(50)).toEqual(new Set([502]));
    expect(gateway.readsOf(path)).toBe(asked);
    gateway.vault.heal();
    gateway.app.clock.advance(5_000);
    await eventually(async () => (await gateway.rerank(slug)).status === 200);
  });

  it('fails only the virtual keys whose secret was never read', async () => {
    const stored = await gateway.virtualKey(reference, { key: OLD, secret_mappings: [] });
    gateway.vault.fail('silent');
    const fresh = await gateway.virtualKey(await gateway.reference(path));
    const failing = Promise.all(Array.from({ length: 20 }, () => gateway.rerank(fresh)));
    const served = Promise.all([gateway.rerank(slug), gateway.rerank(stored)]);
    const first = await Promise.race([failing, served]);
    expect(first.map(({ status }) => status)).toEqual([200, 200]);
    for (const answer of await failing) expect(refusalOf(answer)).toMatchObject(UNAVAILABLE);
    gateway.vault.heal();
    gateway.app.clock.advance(5_000);
    await eventually(async () => (await gateway.rerank(fresh)).status === 200);
  });

  it("keeps the cached secret when only the reference's description changes", async () => {
    gateway.vault.fail('broken');
    for (const changes of [{}, { name: 'renamed', description: 'new', tags: { a: 1 } }]) {
      expect((await gateway.admin.patch(`/v1/secret-references/${reference}`, changes)).status).toBe(200);
      reopen();
      expect((await gateway.rerank(slug)).status).toBe(200);
    }
  });

  it('reports a refused key as such while the manager is down', async () => {
    gateway.vault.fail('broken');
    gateway.accept([]);
    expect(refusalOf(await gateway.rerank(slug))).toMatchObject(REJECTED);
  });
});

describe('a secret that was revoked', () => {
  it('does not use the cached value of a revoked secret', async () => {
    gateway.kv.softDelete(path, 1);
    gateway.app.clock.advance(1.2 * CACHE_MS);
    reopen();
    expect(refusalOf(await gateway.rerank(slug))).toMatchObject(UNAVAILABLE);
    gateway.kv.undelete(path, 1);
    gateway.app.clock.advance(5_000);
    await eventually(async () => (await gateway.rerank(slug)).status === 200);
  });
});

describe('an update of the reference', () => {
  it('drops the old secret when its reference changes', async () => {
    gateway.accept([OLD, NEW]);
    gateway.kv.put(`${path}-moved`, { api_key: NEW });
    const changes = { secret_path: `secret/${path}-moved` };
    expect((await gateway.admin.patch(`/v1/secret-references/${reference}`, changes)).status).toBe(200);
    await gateway.rerank(slug);
    expect(gateway.provider.calls.map(keyOf)).toEqual([NEW]);
  });

  it('uses a changed reference on another replica within ten seconds', async () => {
    gateway.accept([OLD, NEW]);
    const replica = await startTestApp({}, true);
    try {
      const other = new GatewayClient(replica.url);
      expect((await gateway.rerank(slug, other)).status).toBe(200);
      gateway.kv.put(`${path}-moved`, { api_key: NEW });
      await gateway.admin.patch(`/v1/secret-references/${reference}`, { secret_path: `secret/${path}-moved` });
      await eventually(async () => {
        gateway.provider.forget();
        await gateway.rerank(slug, other);
        return gateway.provider.calls.map(keyOf).join() === NEW;
      }, 10_000);
    } finally {
      await replica.close();
    }
  });

  it('does not use the old value when the changed reference finds no secret', async () => {
    const changes = { secret_path: 'secret/nowhere' };
    await gateway.admin.patch(`/v1/secret-references/${reference}`, changes);
    expect(refusalOf(await gateway.rerank(slug))).toMatchObject(UNAVAILABLE);
    expect(gateway.provider.calls).toEqual([]);
  });
});
