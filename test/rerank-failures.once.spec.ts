import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readObject } from '../src/common/json/read.js';
import { closedPort } from '../src/upstream/__fixtures__/loopback.js';
import { eventually } from './support/eventually.js';
import { drip, half, hangUp, inTurn, json, onlyCall, type Reply, silence, text } from './support/fake-provider.js';
import { requestLine } from './support/request-line.js';
import { PROVIDER_KEY, startRerankGateway, VALID, type RerankGateway } from './support/rerank-gateway.js';
import { jsonOf, refusalOf } from './support/send.js';

const TIMEOUT_MS = 500;
const GOOD = { results: [{ index: 0, relevance_score: 0.5 }] };
const HTML = '<!doctype html><title>Bad gateway</title>';
const MAX_RESPONSE_BYTES = 20_000;

const FAILED = { status: 502, code: 'provider_failed', param: null, source: 'provider' };
const INVALID = { ...FAILED, code: 'provider_invalid_response' };
const CREDENTIAL = { ...FAILED, code: 'provider_credential_rejected' };
const TIMEOUT = { ...FAILED, status: 504, code: 'provider_timeout' };
const LIMITED = { ...FAILED, status: 429, code: 'provider_rate_limited' };

let gateway: RerankGateway;
/** Virtual keys for the fake provider. */
let patient: string;
let hasty: string;
/** A virtual key for an address without a listener. */
let nowhere: string;

beforeAll(async () => {
  gateway = await startRerankGateway({ PROVIDER_MAX_RESPONSE_BYTES: String(MAX_RESPONSE_BYTES) });
  patient = await gateway.virtualKey('cohere');
  hasty = await gateway.virtualKey('cohere', { config: { timeout_ms: TIMEOUT_MS } });
  nowhere = await gateway.virtualKey('cohere', { config: { base_url: `http://127.0.0.1:${await closedPort()}` } });
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

function scores(...results: readonly object[]): Reply {
  return json({ results });
}

describe('a provider that fails', () => {
  it.each([
    ['answers 500', json({ message: 'boom' }, 500), 3, FAILED],
    ['answers 503', json({ message: 'busy' }, 503), 3, FAILED],
    ['answers 501, which will not pass', json({}, 501), 1, FAILED],
    ['answers 408', json({}, 408), 3, TIMEOUT],
    ['answers 429', json({}, 429), 3, LIMITED],
    ['hangs up', hangUp, 3, FAILED],
    ['sends half a body', half(JSON.stringify(GOOD)), 3, INVALID],
    ['sends an error page', text(HTML, 'text/html', 502), 3, FAILED],
    ['answers 503 in words', text('upstream connect error', 'text/plain', 503), 3, FAILED],
    ['sends a web page', text(HTML, 'text/html'), 1, INVALID],
    ['sends nothing', text('', 'application/json'), 1, INVALID],
    ['answers 204', (response) => response.writeHead(204).end(), 1, INVALID],
    ['sends broken JSON', text('{"results": [', 'application/json'), 1, INVALID],
    ['sends too much', text(' '.repeat(MAX_RESPONSE_BYTES + 1), 'application/json'), 1, INVALID],
    ['redirects', json({}, 302, { location: 'http://127.0.0.1/elsewhere' }), 1, INVALID],
    ['answers null', json(null), 1, INVALID],
    ['answers an array', json([GOOD]), 1, INVALID],
    ['leaves the results out', json({ id: 'c-1' }), 1, INVALID],
    ['sends results that are not an array', json({ results: { 0: {} } }), 1, INVALID],
    ['sends a result that is not an object', scores(Object(1)), 1, INVALID],
    ['sends no index', scores({ relevance_score: 1 }), 1, INVALID],
    ['sends an index out of range', scores({ index: VALID.documents.length, relevance_score: 1 }), 1, INVALID],
    ['sends a negative index', scores({ index: -1, relevance_score: 1 }), 1, INVALID],
    ['sends a fraction as index', scores({ index: 0.5, relevance_score: 1 }), 1, INVALID],
    ['sends text as index', scores({ index: '0', relevance_score: 1 }), 1, INVALID],
    ['repeats an index', scores({ index: 0, relevance_score: 1 }, { index: 0, relevance_score: 0 }), 1, INVALID],
    ['sends no score', scores({ index: 0 }), 1, INVALID],
    ['sends text as score', scores({ index: 0, relevance_score: '1' }), 1, INVALID],
    ['refuses the key with 401', json({ message: 'no' }, 401), 1, CREDENTIAL],
    ['refuses the key with 403', json({ message: 'no' }, 403), 1, CREDENTIAL],
    ['refuses the key with its own status', json({ message: 'no' }, 498), 1, CREDENTIAL],
  ] satisfies readonly (readonly [string, Reply, number, object])[])(
    'returns the documented error when the provider %s',
    async (_what, reply, attempts, refusal) => {
      gateway.provider.replyWith(reply);
      const answer = await gateway.rerank(patient, VALID);
      expect(refusalOf(answer)).toEqual(refusal);
      expect(gateway.provider.calls).toHaveLength(attempts);
    },
  );

  it('returns provider_failed after three attempts when the provider refuses connections', async () => {
    const headers = { 'x-gateway-trace-id': 'connections-refused' };
    expect(refusalOf(await gateway.rerank(nowhere, VALID, { headers }))).toEqual(FAILED);
    expect(await requestLine(gateway.app, 'connections-refused')).toMatchObject({
      upstream_attempts: 3,
      error_code: 'provider_failed',
      error_reason: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it.each([
    ['500', json({}, 500)],
    ['429 and asks to come back at once', json({}, 429, { 'retry-after': '0' })],
    ['nothing and hangs up', hangUp],
  ])('retries a rerank once the provider answered %s', async (_what, first) => {
    gateway.provider.replyWith(inTurn(first, json(GOOD)));
    expect((await gateway.rerank(patient, VALID)).status).toBe(200);
    expect(gateway.provider.calls).toHaveLength(2);
    expect(new Set(gateway.provider.calls.map((call) => call.body)).size).toBe(1);
  });

  it.each([
    [400, 'top_n is too large'],
    [404, 'model rerank-v9 not found'],
    [422, 'documents: too long'],
  ])('forwards status and message when the provider rejects the request with %d', async (status, message) => {
    gateway.provider.replyWith(json({ message }, status));
    const answer = await gateway.rerank(patient, VALID);
    expect(refusalOf(answer)).toEqual({ ...FAILED, status, code: 'provider_rejected' });
    expect(jsonOf(answer)['error']).toMatchObject({ message, type: 'provider_error' });
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it.each([
    [json({ error: { message: 'You exceeded your quota.', type: 'insufficient_quota' } }, 429), 'insufficient_quota'],
    [json({ error: { message: 'Rate limit reached.', type: 'requests' } }, 429), 'requests'],
    [json({ error: 'Model is overloaded', error_type: 'overloaded' }, 503), 'overloaded'],
    [json({ detail: { message: 'no', type: 'no_access' } }, 403), 'no_access'],
  ])("returns the provider's own type of the error (%#)", async (reply, type) => {
    gateway.provider.replyWith(reply);
    expect(jsonOf(await gateway.rerank(hasty, VALID))['error']).toMatchObject({ provider_type: type });
  });

  it('returns the error of an answer with status 200, and charges nothing for it', async () => {
    gateway.provider.replyWith(json({ error: { message: 'The model is being loaded.', code: 'loading' } }));
    const headers = { 'x-gateway-trace-id': 'error-in-200' };
    const answer = await gateway.rerank(patient, VALID, { headers });
    expect(refusalOf(answer)).toEqual(FAILED);
    expect(jsonOf(answer)['error']).toMatchObject({ message: 'The model is being loaded.', provider_code: 'loading' });
    const line = await requestLine(gateway.app, 'error-in-200');
    expect(line).toMatchObject({ error_reason: 'cohere answered 200 (loading) with an error instead of a result' });
    expect(line).not.toHaveProperty('quantities');
  });

  it.each([
    [{ base_resp: { status_code: 1004, status_msg: 'login fail' } }, 'login fail', '1004'],
    [{ id: 'x', results: [], base_resp: { status_code: 1008, status_msg: 'no balance' } }, 'no balance', '1008'],
    [{ code: 1001, msg: 'quota used up', data: null }, 'quota used up', '1001'],
  ])('returns the error that a code names with status 200: %j', async (body, message, code) => {
    gateway.provider.replyWith(json(body));
    const answer = await gateway.rerank(patient, VALID);
    expect(refusalOf(answer)).toEqual(FAILED);
    expect(jsonOf(answer)['error']).toMatchObject({ message, provider_code: code });
  });

  it.each([
    { base_resp: { status_code: 0, status_msg: 'success' } },
    { code: 200, message: 'done' },
    { code: 3, message: 'one document was cut' },
  ])('returns results that come with %j', async (more) => {
    gateway.provider.replyWith(json({ ...GOOD, id: undefined, ...more }));
    expect((await gateway.rerank(patient, VALID)).status).toBe(200);
  });

  it('distinguishes 403 from 401, and writes the reason into the log', async () => {
    const messages: unknown[] = [];
    for (const status of [401, 403]) {
      gateway.provider.replyWith(json({ message: `Model access is not enabled for ${PROVIDER_KEY}.` }, status));
      const headers = { 'x-gateway-trace-id': `refused-${status}` };
      messages.push(readObject(jsonOf(await gateway.rerank(patient, VALID, { headers }))['error'], 'error')['message']);
      const { error_reason: reason } = await requestLine(gateway.app, `refused-${status}`);
      expect(reason).toMatch(new RegExp(`^cohere answered ${status}: Model access is not enabled for \\*{4}`));
    }
    expect(messages).toEqual([
      'The provider rejected the credential of the virtual key.',
      'The provider does not permit this call with the credential of the virtual key.',
    ]);
  });

  it.each([
    ['in no known form', json({ oops: HTML }, 400)],
    ['in HTML', text(HTML, 'text/html', 404)],
  ])("returns the gateway's own message when the provider rejects the request %s", async (_form, reply) => {
    gateway.provider.replyWith(reply);
    const answer = await gateway.rerank(patient, VALID);
    expect(jsonOf(answer)['error']).toMatchObject({
      code: 'provider_rejected',
      message: 'The provider rejected the request.',
    });
  });

  it.each(['60', 'Fri, 31 Dec 2100 23:59:59 GMT'])(
    'returns provider_rate_limited when Retry-After exceeds the timeout: %s',
    async (value) => {
      gateway.provider.replyWith(json({ message: 'slow down' }, 429, { 'retry-after': value }));
      const answer = await gateway.rerank(hasty, VALID);
      expect(refusalOf(answer)).toEqual(LIMITED);
      expect(answer.headers['retry-after']).toBe(value);
      expect(gateway.provider.calls).toHaveLength(1);
    },
  );

  it('omits a Retry-After that is malformed', async () => {
    gateway.provider.replyWith(json({}, 429, { 'retry-after': 'soon' }));
    expect((await gateway.rerank(hasty, VALID)).headers['retry-after']).toBeUndefined();
  });

  it("does not follow the provider's redirect", async () => {
    gateway.provider.replyWith(json({}, 307, { location: `${gateway.provider.url}/stolen` }));
    await gateway.rerank(patient, VALID);
    expect(onlyCall(gateway.provider)).toMatchObject({
      path: '/v2/rerank',
      headers: { authorization: `Bearer ${PROVIDER_KEY}` },
    });
  });
});

describe('a provider that takes too long', () => {
  it.each([
    ['says nothing', silence],
    ['sends a byte at a time', drip(20)],
    ['fails again and again', json({}, 500, { 'retry-after-ms': '200' })],
  ])('ends the call in time when the provider %s', async (_what, reply) => {
    gateway.provider.replyWith(reply);
    const startedAt = performance.now();
    const answer = await gateway.rerank(hasty, VALID);
    const elapsedMs = performance.now() - startedAt;
    expect([TIMEOUT, FAILED]).toContainEqual(refusalOf(answer));
    expect(elapsedMs).toBeLessThan(4 * TIMEOUT_MS);
  });

  it.each([
    ['says nothing', silence],
    ['sends a byte at a time', drip(20)],
  ])('closes the connection to the provider when it %s', async (_what, reply) => {
    gateway.provider.replyWith(reply);
    expect(refusalOf(await gateway.rerank(hasty, VALID))).toEqual(TIMEOUT);
    await eventually(() => onlyCall(gateway.provider).closedEarly);
  });
});

describe('a provider that has recovered', () => {
  it('calls a provider normally after earlier failures', async () => {
    gateway.provider.replyWith(json(GOOD));
    expect((await gateway.rerank(hasty, VALID)).status).toBe(200);
  });
});
