import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { json, onlyCall } from './support/fake-provider.js';
import { requestLine } from './support/request-line.js';
import { startRerankGateway, VALID, type RerankGateway } from './support/rerank-gateway.js';
import { type Answer, refusalOf } from './support/send.js';

const PARENT_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_SPAN = '00f067aa0ba902b7';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

let gateway: RerankGateway;
let virtualKey: string;

beforeAll(async () => {
  gateway = await startRerankGateway();
  virtualKey = await gateway.virtualKey('cohere');
  gateway.provider.replyWith(json({ results: [] }));
});
afterAll(() => gateway.close());
beforeEach(() => gateway.provider.forget());

function rerank(headers: Readonly<Record<string, string>>): Promise<Answer> {
  return gateway.rerank(virtualKey, VALID, { headers });
}

/** Trace id, span id and flags that the provider received. */
function sentOn(): readonly string[] {
  const [version, ...rest] = String(onlyCall(gateway.provider).headers['traceparent']).split('-');
  expect(version).toBe('00');
  return rest;
}

function metadata(keys: number, value = 'v'): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: keys }, (_, index) => [`key-${index}`, value])));
}

describe('the trace id of a rerank request', () => {
  it.each(['my-trace-1', 'a', '~'.repeat(128)])("returns the client's trace id unchanged: %s", async (id) => {
    expect((await rerank({ 'x-gateway-trace-id': id })).headers['x-gateway-trace-id']).toBe(id);
  });

  it('generates a new trace id for each request without one', async () => {
    const ids = [await rerank({}), await rerank({})].map((answer) => answer.headers['x-gateway-trace-id']);
    expect(ids).toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]);
    expect(new Set(ids).size).toBe(2);
  });

  it.each([
    ['a broken body', {}, '{'],
    ['an unknown virtual key', { 'x-gateway-virtual-key': 'nobody' }, VALID],
    ['a wrong gateway key', { 'x-gateway-api-key': 'tg_nobody' }, VALID],
  ])('returns the trace id with errors too: %s', async (_what, headers, body) => {
    const id = randomUUID();
    const answer = await gateway.rerank(virtualKey, body, { headers: { 'x-gateway-trace-id': id, ...headers } });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.headers['x-gateway-trace-id']).toBe(id);
  });

  it('accepts a trace id with spaces', async () => {
    const answer = await rerank({ 'x-gateway-trace-id': 'checkout of order 7' });
    expect([answer.status, answer.headers['x-gateway-trace-id']]).toEqual([200, 'checkout of order 7']);
  });

  it.each([
    ['too long', 'x'.repeat(129)],
    ['with a tab', 'a\tb'],
    ['with a letter that is not ASCII', 'caf\u00e9'],
  ])('refuses a trace id that is %s, and returns a generated one', async (_what, id) => {
    const answer = await rerank({ 'x-gateway-trace-id': id });
    expect(refusalOf(answer)).toEqual({
      status: 400,
      code: 'validation_failed',
      param: 'x-gateway-trace-id',
      source: 'gateway',
    });
    expect(answer.headers['x-gateway-trace-id']).toMatch(UUID);
  });
});

describe('the trace context of the provider call', () => {
  it("continues the client's trace from a span of the gateway", async () => {
    const answer = await rerank({ traceparent: `00-${PARENT_TRACE}-${PARENT_SPAN}-01` });
    const [traceId, spanId, flags] = sentOn();
    expect([traceId, flags]).toEqual([PARENT_TRACE, '01']);
    expect(spanId).toMatch(/^(?!0{16})[0-9a-f]{16}$/);
    expect(spanId).not.toBe(PARENT_SPAN);
    expect(answer.headers['x-gateway-trace-id']).toBe(PARENT_TRACE);
  });

  it("keeps the client's decision not to sample", async () => {
    await rerank({ traceparent: `00-${PARENT_TRACE}-${PARENT_SPAN}-00` });
    expect(sentOn()).toEqual([PARENT_TRACE, expect.any(String), '00']);
  });

  it('forwards tracestate only together with traceparent', async () => {
    const traceparent = `00-${PARENT_TRACE}-${PARENT_SPAN}-01`;
    await rerank({ traceparent, tracestate: 'rojo=00f067aa0ba902b7' });
    expect(onlyCall(gateway.provider).headers['tracestate']).toBe('rojo=00f067aa0ba902b7');
    gateway.provider.forget();
    await rerank({ tracestate: 'rojo=00f067aa0ba902b7' });
    expect(onlyCall(gateway.provider).headers).not.toHaveProperty('tracestate');
  });

  it("uses the client's trace id as W3C trace id when it is a UUID", async () => {
    const id = randomUUID();
    await rerank({ 'x-gateway-trace-id': id });
    expect(sentOn()[0]).toBe(id.replaceAll('-', ''));
  });

  it('derives the same W3C trace id from equal trace ids', async () => {
    await rerank({ 'x-gateway-trace-id': 'order 7'.replace(' ', '-') });
    const [first] = sentOn();
    gateway.provider.forget();
    await rerank({ 'x-gateway-trace-id': 'order-7' });
    expect(sentOn()[0]).toBe(first);
    expect(first).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each([
    ['junk', 'junk'],
    ['all zeros', `00-${'0'.repeat(32)}-${PARENT_SPAN}-01`],
    ['an invalid version', `ff-${PARENT_TRACE}-${PARENT_SPAN}-01`],
    ['capital letters', `00-${PARENT_TRACE.toUpperCase()}-${PARENT_SPAN}-01`],
  ])('starts a new trace when traceparent is %s', async (_what, traceparent) => {
    expect((await rerank({ traceparent })).status).toBe(200);
    expect(sentOn()[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(sentOn()[0]).not.toBe(PARENT_TRACE);
  });
});

describe('the log line of a rerank request', () => {
  it.each(['x-gateway', 'x-portkey'])("logs the client's tracing values from %s-* headers", async (prefix) => {
    const traceId = randomUUID();
    await rerank({
      [`${prefix}-trace-id`]: traceId,
      [`${prefix}-span-id`]: 'span-1',
      [`${prefix}-parent-span-id`]: 'span-0',
      [`${prefix}-span-name`]: 'rank the hits',
      [`${prefix}-metadata`]: '{"team":"search","_user":"u-1"}',
    });
    expect(await requestLine(gateway.app, traceId)).toMatchObject({
      trace_id: traceId,
      span_id: 'span-1',
      parent_span_id: 'span-0',
      span_name: 'rank the hits',
      metadata: { team: 'search', _user: 'u-1' },
      route: '/v1/rerank',
      status: 200,
      provider: 'cohere',
      model: VALID.model,
      documents: VALID.documents.length,
      upstream_status: 200,
      upstream_attempts: 1,
    });
  });

  it('limits the length of the log line for a long model name', async () => {
    const traceId = randomUUID();
    const body = { ...VALID, model: 'm'.repeat(100_000) };
    expect((await gateway.rerank('local', body, { headers: { 'x-gateway-trace-id': traceId } })).status).toBe(200);
    expect(JSON.stringify(await requestLine(gateway.app, traceId)).length).toBeLessThan(2_000);
  });

  it('prefers x-gateway-* headers to x-portkey-* headers', async () => {
    const traceId = randomUUID();
    const answer = await rerank({
      'x-gateway-trace-id': traceId,
      'x-portkey-trace-id': 'the-other',
      'x-gateway-metadata': '{"from":"gateway"}',
      'x-portkey-metadata': '{"from":"portkey"}',
    });
    expect(answer.headers['x-gateway-trace-id']).toBe(traceId);
    expect(await requestLine(gateway.app, traceId)).toMatchObject({ metadata: { from: 'gateway' } });
  });
});

describe('metadata of a rerank request', () => {
  it.each([
    ['no keys', '{}'],
    ['32 keys', metadata(32)],
    ['128 characters', JSON.stringify({ ['k'.repeat(128)]: 'v'.repeat(128) })],
    ['a number', '{"a":1}'],
    ['null', '{"a":null}'],
    ['an object', '{"a":{}}'],
    ['letters of any script', Buffer.from('{"stadt":"Zürich"}').toString('latin1')],
    ['a name that every object knows', '{"__proto__":"a","constructor":"b"}'],
  ])('accepts metadata with %s', async (_what, value) => {
    expect((await rerank({ 'x-gateway-metadata': value })).status).toBe(200);
  });

  it.each([
    ['33 keys', metadata(33)],
    ['a value of 129 characters', metadata(1, 'v'.repeat(129))],
    ['an object of 129 characters', JSON.stringify({ a: ['v'.repeat(125)] })],
    ['a name of 129 characters', JSON.stringify({ ['k'.repeat(129)]: 'v' })],
    ['an array instead of an object', '["a"]'],
    ['text instead of an object', '"a"'],
    ['null instead of an object', 'null'],
    ['broken JSON', '{"a":'],
  ])('refuses metadata with %s', async (_what, value) => {
    for (const name of ['x-gateway-metadata', 'x-portkey-metadata']) {
      expect(refusalOf(await rerank({ [name]: value }))).toEqual({
        status: 400,
        code: 'validation_failed',
        param: 'x-gateway-metadata',
        source: 'gateway',
      });
    }
    expect(gateway.provider.calls).toEqual([]);
  });
});
