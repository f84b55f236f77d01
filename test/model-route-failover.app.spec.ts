// A model route with several targets: what a caller sees of the faults of the first one, and what goes to the second.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { type FakeProvider, json, type Reply, startFakeProvider, text } from './support/fake-provider.js';
import { eventually } from './support/eventually.js';
import { requestLine } from './support/request-line.js';
import { type Answer, jsonOf } from './support/send.js';
import { startUsageGateway, type UsageGateway } from './support/usage-gateway.js';

const PATH = '/v1/model-routes';
const GOOD = '{"choices":[{"message":{"content":"second"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}';
const EVENTS = 'text/event-stream';
const ROLE = 'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n';
const WORD = 'data: {"choices":[{"index":0,"delta":{"content":"first"}}]}\n\n';
const REST = 'data: {"choices":[{"index":0,"delta":{"content":"second"}}]}\n\ndata: [DONE]\n\n';
const ERROR_EVENT = 'data: {"error":{"message":"overloaded","type":"server_error","code":503}}\n\n';

let gateway: UsageGateway;
let second: FakeProvider;
let name: string;
let first: string;
let id: string;
let made = 0;

beforeAll(async () => {
  gateway = await startUsageGateway({ ROUTE_FIRST_BYTE_MS: '1000' });
  second = await startFakeProvider();
});
beforeEach(async () => {
  await gateway.reset();
  gateway.provider.forget();
  second.forget();
  second.replyWith((response, call) =>
    (call.body.includes('"stream":true') ? text(ROLE + REST, EVENTS) : text(GOOD, 'application/json'))(response, call),
  );
  made += 1;
  name = `route ${made}`;
  first = await gateway.virtualKey('openai-compatible');
  const other = await gateway.virtualKey('openai-compatible', { config: { base_url: second.url } });
  const route = await gateway.admin.create(PATH, {
    name,
    targets: [
      { virtual_key: first, model: `one-${made}` },
      { virtual_key: other, model: `two-${made}`, order: 1 },
    ],
  });
  id = String(route['id']);
});
afterAll(async () => {
  await gateway.close();
  await second.close();
});

function chat(more: object = {}): Promise<Answer> {
  return gateway.admin.post('/v1/chat/completions', { model: name, messages: [], max_tokens: 1, ...more });
}

function cut(beginning: string): Reply {
  return (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': EVENTS });
    response.write(beginning, () => setTimeout(() => response.destroy(), 20));
  };
}

const silent: Reply = () => undefined;
const refused: Reply = (response) => response.destroy();

describe('a first target that fails before its output', () => {
  it.each<[string, Reply]>([
    ['500', json({ error: { message: 'no' } }, 500)],
    ['503 page', text('<html>', 'text/html', 503)],
    ['529', json({ type: 'error', error: { type: 'overloaded_error', message: 'no' } }, 529)],
    ['429', json({ error: { message: 'slow down' } }, 429, { 'retry-after': '20' })],
    ['401', json({ error: { message: 'bad key' } }, 401)],
    ['408', json({}, 408)],
    ['connection that breaks', refused],
    ['error with the status 200', json({ error: { message: 'no', code: 504 } })],
    ['web page with the status 200', text('<html>', 'text/html')],
    ['answer without a body', text('', 'application/json')],
    ['half of an answer', text('{"choices":[{"mess', 'application/json')],
  ])('hands a whole call to the second: %s', async (_fault, reply) => {
    gateway.provider.replyWith(reply);
    const answer = await chat();
    expect([answer.status, answer.text]).toEqual([200, GOOD]);
    expect(answer.headers).toMatchObject({ 'x-gateway-model': `two-${made}` });
    expect([gateway.provider.calls.length, second.calls.length]).toEqual([1, 1]);
    expect(JSON.parse(second.calls[0]?.body ?? '')).toEqual({ model: `two-${made}`, messages: [], max_tokens: 1 });
  });

  it.each<[string, Reply]>([
    ['500', json({ error: { message: 'no' } }, 500)],
    ['no first byte', silent],
    ['a cut before any output', cut(ROLE)],
    ['an end before any event', text('', EVENTS)],
    ['an end before any output', text(ROLE, EVENTS)],
    ['an error as the first event', text(ERROR_EVENT, EVENTS)],
    ['an error after the role', text(`${ROLE}${ERROR_EVENT}data: [DONE]\n\n`, EVENTS)],
  ])('hands a stream to the second: %s', async (_fault, reply) => {
    gateway.provider.replyWith(reply);
    const answer = await chat({ stream: true });
    expect([answer.status, answer.text]).toEqual([200, ROLE + REST]);
    expect([gateway.provider.calls.length, second.calls.length]).toEqual([1, 1]);
  });

  it.each([false, true])('leaves none of its headers in the answer of the second, streamed: %s', async (stream) => {
    const body = stream ? ERROR_EVENT : '{"error":{"message":"no","code":504}}';
    const limits = { 'x-ratelimit-remaining-requests': '7' };
    gateway.provider.replyWith(text(body, stream ? EVENTS : 'application/json', 200, limits));
    const answer = await chat({ stream });
    expect([answer.status, answer.headers['x-gateway-attempts']]).toEqual([200, '2']);
    expect(answer.headers).not.toHaveProperty('x-ratelimit-remaining-requests');
  });

  it.each([false, true])('is a failed call in the ledger, also with status 200, streamed: %s', async (stream) => {
    const body = stream ? ERROR_EVENT : '{"error":{"message":"no","code":504}}';
    gateway.provider.replyWith(text(body, stream ? EVENTS : 'application/json'));
    await chat({ stream });
    const rows = await gateway.books.ledger(2);
    const ofFirst = rows.find(({ model }) => model === `one-${made}`);
    expect(ofFirst).toMatchObject({ outcome: 'failed', costNano: '0' });
  });

  it('is named in the log line, the metrics and the headers', async () => {
    gateway.provider.replyWith(json({ error: { message: 'no' } }, 500));
    const answer = await chat();
    expect(answer.headers).toMatchObject({ 'x-gateway-attempts': '2' });
    const line = await requestLine(gateway.app, String(answer.headers['x-gateway-trace-id']));
    expect(line).toMatchObject({
      model: `two-${made}`,
      failed_targets: [{ virtual_key: first, model: `one-${made}`, error_code: 'provider_failed' }],
    });
    const { text: metrics } = await gateway.admin.get('/metrics');
    expect(metrics).toMatch(/^gateway_failovers_total\{provider="openai-compatible",reason="provider_failed"\} [1-9]/m);
  });

  it('leaves a row of its own in the ledger for each target', async () => {
    gateway.provider.replyWith(json({ error: { message: 'no' } }, 500));
    await chat();
    const rows = await gateway.books.ledger(2);
    expect(rows).toHaveLength(2);
    expect(new Set(rows.map(({ model }) => model))).toEqual(new Set([`one-${made}`, `two-${made}`]));
  });
});

describe('a first target that answers', () => {
  it.each([400, 404, 413, 422])('is not followed by a second after %d: the request is at fault', async (status) => {
    const body = { error: { message: 'bad', type: 'invalid_request_error' } };
    gateway.provider.replyWith(json(body, status));
    const answer = await chat();
    expect([answer.status, jsonOf(answer)]).toEqual([status, body]);
    expect(second.calls).toEqual([]);
  });

  it('is not followed by a second when an error with status 200 is about the request', async () => {
    const body = JSON.stringify({ error: { message: 'bad', code: 400 } });
    gateway.provider.replyWith(text(body, 'application/json'));
    expect((await chat()).text).toBe(body);
    expect(second.calls).toEqual([]);
  });

  it('passes a stream with its bytes, however it is cut, and ends it with an error after its first output', async () => {
    gateway.provider.replyWith(text(ROLE + WORD + REST, EVENTS));
    expect((await chat({ stream: true })).text).toBe(ROLE + WORD + REST);
    gateway.provider.replyWith(cut(ROLE + WORD));
    const broken = await chat({ stream: true }).catch((error: unknown) => error);
    expect(JSON.stringify(broken)).not.toContain('second');
    expect(second.calls).toEqual([]);
  });

  it('passes a stream without output', async () => {
    const empty = `${ROLE}data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
    gateway.provider.replyWith(text(empty, EVENTS));
    const answer = await chat({ stream: true });
    expect([answer.text, answer.headers['x-gateway-attempts']]).toEqual([empty, '1']);
    expect(second.calls).toEqual([]);
  });
});

describe('a target that keeps failing', () => {
  it('gets no more calls for a while, and its route says so', async () => {
    gateway.provider.replyWith(json({ error: { message: 'no' } }, 500));
    for (let call = 0; call < 12; call += 1) expect((await chat()).status).toBe(200);
    expect(gateway.provider.calls).toHaveLength(10);
    const health = await gateway.admin.get(`${PATH}/${id}/health`);
    expect(jsonOf(health)).toMatchObject({
      object: 'model-route-health',
      targets: [
        { model: `one-${made}`, state: 'open' },
        { model: `two-${made}`, state: 'closed', calls: 12, failures: 0 },
      ],
    });
    gateway.provider.replyWith(text(GOOD, 'application/json'));
    gateway.app.clock.advance(31_000);
    expect((await chat()).headers['x-gateway-model']).toBe(`one-${made}`);
    expect(jsonOf(await gateway.admin.get(`${PATH}/${id}/health`))).toMatchObject({
      targets: [{ state: 'closed' }, {}],
    });
  });

  it('gets one call after its pause, also of many that come at once', async () => {
    gateway.provider.replyWith(json({ error: { message: 'no' } }, 500));
    for (let call = 0; call < 10; call += 1) await chat();
    gateway.app.clock.advance(31_000);
    gateway.provider.forget();
    let answer = (): void => undefined;
    gateway.provider.replyWith((response, call) => {
      answer = () => text(GOOD, 'application/json')(response, call);
    });
    const calls = Array.from({ length: 20 }, () => chat());
    await eventually(() => second.calls.length === 10 + 19);
    answer();
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
    expect(gateway.provider.calls).toHaveLength(1);
  });

  it.each([
    ['/v1/chat/completions', { messages: [], max_tokens: 1 }],
    ['/v1/rerank', { query: 'q', documents: ['d'] }],
  ])('gets one try of a call that all others have failed, at %s', async (path, body) => {
    gateway.provider.replyWith(json({ error: { message: 'no' } }, 500));
    for (let call = 0; call < 10; call += 1) await chat();
    gateway.provider.forget();
    second.forget();
    second.replyWith(json({ error: { message: 'no' } }, 500));
    expect((await gateway.admin.post(path, { model: name, ...body })).status).toBeGreaterThanOrEqual(500);
    expect([second.calls.length, gateway.provider.calls.length]).toEqual([1, 1]);
  });

  it('gets no call for as long as it asks with 429', async () => {
    gateway.provider.replyWith(json({ error: { message: 'slow down' } }, 429, { 'retry-after': '20' }));
    await chat();
    await chat();
    expect(gateway.provider.calls).toHaveLength(1);
    expect(jsonOf(await gateway.admin.get(`${PATH}/${id}/health`))).toMatchObject({
      targets: [{ state: 'limited' }, {}],
    });
  });

  it('passes the error of the last target when all fail', async () => {
    const body = { error: { message: 'the last word' } };
    gateway.provider.replyWith(refused);
    second.replyWith(json(body, 400));
    const answer = await chat();
    expect([answer.status, jsonOf(answer)]).toEqual([400, body]);
  });

  it('hands reranks over too', async () => {
    gateway.provider.replyWith(json({ message: 'no' }, 503));
    second.replyWith(json({ results: [{ index: 0, relevance_score: 0.5 }] }));
    const answer = await gateway.admin.post('/v1/rerank', { model: name, query: 'q', documents: ['d'] });
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({ 'x-gateway-model': `two-${made}` });
    expect(JSON.parse(second.calls[0]?.body ?? '').model).toBe(`two-${made}`);
    expect([gateway.provider.calls.length, second.calls.length]).toEqual([1, 1]);
  });
});

describe('a brown-out of the first target of reranks', () => {
  it('slows ten calls of its route by its time limit, and none after them, nor calls of others', async () => {
    second.replyWith(json({ results: [{ index: 0, relevance_score: 0.5 }] }));
    gateway.provider.replyWith(silent);
    const slow = await gateway.virtualKey('openai-compatible', {
      config: { base_url: gateway.provider.url, timeout_ms: 1_000 },
    });
    const other = await gateway.virtualKey('openai-compatible', { config: { base_url: second.url } });
    const route = `browned ${made}`;
    const targets = [
      { virtual_key: slow, model: 'slow' },
      { virtual_key: other, model: 'other', order: 1 },
    ];
    await gateway.admin.create(PATH, { name: route, targets });
    const rerank = (model: string): Promise<Answer> =>
      gateway.admin.post('/v1/rerank', { model, query: 'q', documents: ['d'] });
    const during = Array.from({ length: 10 }, () => rerank(route));
    const beside = await rerank(`@${other}/m`);
    const line = await requestLine(gateway.app, String(beside.headers['x-gateway-trace-id']));
    expect([beside.status, line['upstream_queue_ms'] ?? 0]).toEqual([200, 0]);
    for (const answer of await Promise.all(during))
      expect([answer.status, answer.headers['x-gateway-attempts']]).toEqual([200, '2']);
    expect(gateway.provider.calls).toHaveLength(10);
    const after = await rerank(route);
    expect([after.status, after.headers['x-gateway-attempts']]).toEqual([200, '1']);
    expect(gateway.provider.calls).toHaveLength(10);
  });
});
