// The spans of requests to MCP servers, and the trace headers that the servers receive.
import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from './support/eventually.js';
import { GatewayClient } from './support/gateway-client.js';
import { brokenEvents, json, plain, type RawMcpServer, startRawMcpServer } from './support/mcp-raw-server.js';
import { type ExportedSpan, type OtlpCollector, startOtlpCollector } from './support/otlp-collector.js';
import { send } from './support/send.js';
import { ADMIN_KEY, startTestApp, type TestApp } from './support/test-app.js';

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'search', arguments: { q: 'in no trace' } },
};
const ANSWER = { jsonrpc: '2.0', id: 1, result: { content: 'in no trace' } };
const SPAN = 'b7ad6b7169203331';
const ALL = { mode: 'all-except', headers: [] };
const SERVER = 2;
const CLIENT = 3;
const UNSET = 0;
const ERROR = 2;

type Headers = Readonly<Record<string, string>>;

let collector: OtlpCollector;
let gateway: TestApp;
let untraced: TestApp | undefined;
let raw: RawMcpServer;

beforeAll(async () => {
  process.env['OTEL_BSP_SCHEDULE_DELAY'] = '50';
  [collector, raw] = await Promise.all([startOtlpCollector(), startRawMcpServer()]);
  gateway = await startTestApp({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
});

afterEach(async () => {
  await untraced?.close();
  untraced = undefined;
  raw.answerWith(json(ANSWER));
  raw.forget();
});

afterAll(async () => {
  delete process.env['OTEL_BSP_SCHEDULE_DELAY'];
  await gateway.close();
  await Promise.all([collector.close(), raw.close()]);
});

async function register(fields: object = {}): Promise<string> {
  const slug = `s-${randomUUID()}`;
  const admin = new GatewayClient((untraced ?? gateway).url);
  await admin.create('/v1/mcp-servers', { name: 'A server', slug, url: raw.endpoint.href, ...fields });
  return slug;
}

/** The trace id of the call. */
async function call(slug: string, headers: Headers = {}, body: object = CALL): Promise<string> {
  const traceId = randomUUID().replaceAll('-', '');
  const traceparent = `00-${traceId}-${SPAN}-01`;
  const all = { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json', traceparent, ...headers };
  // Some answers are cut off.
  await send(`${(untraced ?? gateway).url}/${slug}/mcp`, {
    method: 'POST',
    headers: all,
    body: JSON.stringify(body),
  }).catch(() => undefined);
  return traceId;
}

/** The spans of the request and of the call to its server. */
async function spansOf(traceId: string): Promise<readonly [ExportedSpan | undefined, ExportedSpan | undefined]> {
  const found = (): readonly ExportedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
  await eventually(() => found().length >= 2);
  expect(found()).toHaveLength(2);
  return [found().find(({ kind }) => kind === SERVER), found().find(({ kind }) => kind === CLIENT)];
}

function sentOn(name: string): string | undefined {
  const { rawHeaders = [] } = raw.received.at(-1) ?? {};
  const at = rawHeaders.findIndex((field, index) => index % 2 === 0 && field.toLowerCase() === name);
  return at < 0 ? undefined : rawHeaders[at + 1];
}

describe('MCP tracing that is on', () => {
  it("exports two spans per call below the caller's span, with server, method and tool", async () => {
    const slug = await register();
    const [request, sent] = await spansOf(await call(slug));
    const described = { 'gateway.mcp_server': slug, 'mcp.method.name': 'tools/call', 'gen_ai.tool.name': 'search' };
    expect(request).toMatchObject({ name: 'POST /:server/mcp', parentSpanId: SPAN, attributes: described });
    expect(sent).toMatchObject({ name: 'tools/call search', parentSpanId: request?.spanId, attributes: described });
    expect(sent).toMatchObject({ status: UNSET, attributes: { 'http.response.status_code': 200 } });
  });

  it('sends the span of the call to servers that allow trace headers', async () => {
    const traceId = await call(await register({ forward_headers: ALL }), { tracestate: 'rojo=1' });
    const [, sent] = await spansOf(traceId);
    expect(sentOn('traceparent')).toBe(`00-${traceId}-${sent?.spanId}-01`);
    expect(sentOn('tracestate')).toBe('rojo=1');
  });

  it('sends no trace headers to servers that do not allow them', async () => {
    await call(await register(), { tracestate: 'rojo=1' });
    expect([sentOn('traceparent'), sentOn('tracestate')]).toEqual([undefined, undefined]);
    await call(await register({ forward_headers: { mode: 'all-except', headers: ['traceparent'] } }));
    expect(sentOn('traceparent')).toBeUndefined();
  });

  it("marks both spans with the server's error", async () => {
    const slug = await register();
    raw.answerWith(plain(500));
    const [request, sent] = await spansOf(await call(slug));
    for (const span of [request, sent])
      expect(span).toMatchObject({ status: ERROR, attributes: { 'error.type': '500' } });
  });

  it.each([
    [{ ...ANSWER, result: { isError: true } }, 'tool_error', undefined],
    [{ jsonrpc: '2.0', id: 1, error: { code: -32_602, message: 'no' } }, '-32602', '-32602'],
  ])('marks the span of the call with a failure in the answer: %j', async (answer, type, code) => {
    const slug = await register();
    raw.answerWith(json(answer));
    const [request, sent] = await spansOf(await call(slug));
    expect(request).toMatchObject({ status: UNSET });
    expect(sent).toMatchObject({ status: ERROR, attributes: { 'error.type': type } });
    expect(sent?.attributes['rpc.response.status_code']).toBe(code);
  });

  it('marks both spans as errors when the server cuts a stream off', async () => {
    const slug = await register();
    raw.answerWith(brokenEvents);
    const expected = {
      status: ERROR,
      attributes: { 'error.type': 'provider_invalid_response', 'http.response.status_code': 200 },
    };
    for (const span of await spansOf(await call(slug))) expect(span).toMatchObject(expected);
  });

  it('exports only the request span for a call of a disabled tool', async () => {
    const slug = await register();
    await new GatewayClient(gateway.url).put(`/v1/mcp-servers/${slug}/tools`, {
      tools: [{ name: 'off', enabled: false }],
    });
    const refused = await call(slug, {}, { ...CALL, params: { name: 'off' } });
    await spansOf(await call(slug));
    const spans = collector.spans.filter(({ traceId }) => traceId === refused);
    expect(spans).toMatchObject([{ kind: SERVER, status: UNSET, attributes: { 'gen_ai.tool.name': 'off' } }]);
  });

  it('exports no key, session, argument or result', async () => {
    raw.answerWith(json(ANSWER, 200, { 'mcp-session-id': 'session-in-no-trace' }));
    await spansOf(await call(await register()));
    const everything = collector.exports.map(({ body }) => body).join('\n');
    for (const text of [ADMIN_KEY, 'in no trace', 'in-no-trace']) expect(everything).not.toContain(text);
  });
});

/** A call whose message names its trace; `undefined` removes a header. The trace id of the answer. */
async function callWithin(slug: string, meta: object, headers: Headers = {}): Promise<string> {
  const all = { 'x-gateway-api-key': ADMIN_KEY, 'content-type': 'application/json', ...headers };
  const body = JSON.stringify({ ...CALL, params: { ...CALL.params, _meta: meta } });
  const answer = await send(`${(untraced ?? gateway).url}/${slug}/mcp`, { headers: all, body });
  expect(raw.received.at(-1)?.body.toString()).toBe(body);
  expect(answer.headers['x-request-id']).toBe(answer.headers['x-gateway-trace-id']);
  return String(answer.headers['x-gateway-trace-id']);
}

describe('a trace that the message names', () => {
  const TRACE = '0af7651916cd43dd8448eb211c80319c';
  const META = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: 'rojo=1', progressToken: 1 };

  it('continues it in both spans, in the answer and at the server, and leaves the message alone', async () => {
    const slug = await register({ forward_headers: ALL });
    expect(await callWithin(slug, META)).toBe(TRACE);
    const [request, sent] = await spansOf(TRACE);
    expect(request).toMatchObject({ name: 'POST /:server/mcp', parentSpanId: SPAN });
    expect(sent).toMatchObject({ name: 'tools/call search', parentSpanId: request?.spanId });
    expect(sentOn('traceparent')).toBe(`00-${TRACE}-${sent?.spanId}-01`);
    expect([sentOn('tracestate'), sentOn('x-gateway-trace-id')]).toEqual(['rojo=1', TRACE]);
  });

  it('takes the trace of the headers before that of the message', async () => {
    const slug = await register({ forward_headers: ALL });
    const other = randomUUID().replaceAll('-', '');
    expect(await callWithin(slug, META, { traceparent: `00-${other}-${SPAN}-01` })).toBe(other);
    expect(sentOn('traceparent')).toContain(other);
    expect(sentOn('tracestate')).toBeUndefined();
    expect(await callWithin(slug, META, { 'x-gateway-trace-id': 'my-trace' })).toBe('my-trace');
    expect(sentOn('traceparent')).not.toContain(TRACE);
  });

  it.each([
    ['is not valid', { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` }],
    ['is not text', { traceparent: 7 }],
    ['is very long', { traceparent: `${META.traceparent.replace('00-', '01-')}-${'x'.repeat(1_000)}` }],
    ['has no parent', { tracestate: 'rojo=1' }],
  ])('starts a trace of its own when that of the message %s', async (_what, meta) => {
    const slug = await register({ forward_headers: ALL });
    expect(await callWithin(slug, meta)).not.toContain(TRACE);
    expect(sentOn('tracestate')).toBeUndefined();
  });

  it('sends it without tracing only where trace headers are allowed', async () => {
    untraced = await startTestApp({}, true);
    expect(await callWithin(await register({ forward_headers: ALL }), META)).toBe(TRACE);
    expect([sentOn('traceparent'), sentOn('tracestate')]).toEqual([META.traceparent, META.tracestate]);
    expect(await callWithin(await register(), META)).toBe(TRACE);
    expect([sentOn('traceparent'), sentOn('tracestate')]).toEqual([undefined, undefined]);
  });
});

describe('MCP tracing that is off', () => {
  it("forwards the client's trace headers to servers that allow them without tracing", async () => {
    untraced = await startTestApp({}, true);
    const traceId = await call(await register({ forward_headers: ALL }), { tracestate: 'rojo=1' });
    expect([sentOn('traceparent'), sentOn('tracestate')]).toEqual([`00-${traceId}-${SPAN}-01`, 'rojo=1']);
  });
});
